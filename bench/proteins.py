#!/usr/bin/env python3
"""Writes the two systems of the paper on Parsley as files of `md`: BPTI and lysozyme in water.

Packages of PyPI: openmm and pdbfixer; MDAnalysisTests has a structure of BPTI (5PTI):

    python3 -m venv there && there/bin/pip install openmm pdbfixer MDAnalysisTests
    there/bin/python bench/proteins.py --lysozyme 1hel.pdb -o proteins
    build/release/bin/cleave study md --proteins proteins

A structure is a file of the Protein Data Bank (.pdb or .cif, also .gz): --bpti FILE (the paper has
4PTI), --lysozyme FILE (1HEL). Each protein gets the water that brings it to the paper's number of
atoms: flexible TIP3P, in a box as long as the paper's cells are many, with ions that make it neutral.
The force field is Amber's ff14SB. The energy is brought down a little, velocities are those of 300 K.
"""
import argparse
import gzip
import io
import pathlib
import sys

SETTINGS = """units real
atom_style full
pair_style lj/charmm/coul/charmm 8.0 9.0 1.0 9.0
pair_modify mix arithmetic
bond_style harmonic
angle_style harmonic
dihedral_style charmm
special_bonds amber
neighbor 1.5 bin
timestep 0.5
neigh_modify every 10
"""
PAPER = {"bpti": (16735, (1, 1, 1)), "lysozyme": (29754, (1, 1.4, 1))}
KCAL = 4.184  # kJ


def fail(message):
    sys.exit(f"proteins.py: {message}")


def text_of(file):
    try:
        raw = pathlib.Path(file).read_bytes()
        return (gzip.decompress(raw) if str(file).endswith(".gz") else raw).decode()
    except (OSError, EOFError, UnicodeDecodeError) as e:
        fail(f"{file}: expected a structure of the Protein Data Bank: {e}")


def bpti_of_package():
    try:
        import MDAnalysisTests
    except ImportError:
        return None
    found = list(pathlib.Path(MDAnalysisTests.__file__).parent.glob("data/**/5PTI.cif.gz"))
    return found[0] if found else None


def protein(file):
    """The protein alone, with all its atoms and hydrogens."""
    import openmm.app as app
    import pdbfixer

    is_cif = ".cif" in pathlib.Path(file).name
    kind = "pdbxfile" if is_cif else "pdbfile"
    try:
        fixer = pdbfixer.PDBFixer(**{kind: io.StringIO(text_of(file))})
    except Exception as e:
        fail(f"{file}: expected a structure of the Protein Data Bank: {e}")
    fixer.removeHeterogens(False)
    fixer.findMissingResidues()
    fixer.missingResidues = {}
    fixer.findMissingAtoms()
    fixer.addMissingAtoms()
    model = app.Modeller(fixer.topology, fixer.positions)
    light = [a for a in model.topology.atoms() if a.element is None or a.element.symbol in "HD"]
    model.delete(light)
    if model.topology.getNumAtoms() == 0:
        fail(f"{file}: expected a protein, got none")
    field = app.ForceField("amber14-all.xml", "amber14/tip3p.xml")
    model.addHydrogens(field)
    return model, field


def in_water(file, atoms, shape):
    """The protein in a box of that shape with about so many atoms."""
    import openmm as mm
    import openmm.unit as unit

    alone = protein(file)[0].topology.getNumAtoms()
    volume = (atoms - alone) / 3 / 33.4 + alone / 100  # nm^3: of water, and of the protein
    best = None
    for _ in range(6):
        model, field = protein(file)
        a = (volume / (shape[0] * shape[1] * shape[2])) ** (1 / 3)
        box = mm.Vec3(*(a * x for x in shape)) * unit.nanometer
        model.addSolvent(field, model="tip3p", boxSize=box)
        off = atoms - model.topology.getNumAtoms()
        if best is None or abs(off) < abs(best[0]):
            best = off, model, field
        if abs(off) < atoms / 400:
            break
        volume += off / 100
    return best[1:]


def relaxed(model, field, iterations):
    """Positions and velocities, in nm and nm/ps, and the system."""
    import openmm as mm
    import openmm.app as app
    import openmm.unit as unit

    system = field.createSystem(model.topology, nonbondedMethod=app.CutoffPeriodic,
                                nonbondedCutoff=0.9 * unit.nanometer, constraints=None,
                                rigidWater=False, removeCMMotion=False)
    context = mm.Context(system, mm.VerletIntegrator(0.0005), mm.Platform.getPlatformByName("CPU"))
    context.setPositions(model.positions)
    mm.LocalEnergyMinimizer.minimize(context, maxIterations=iterations)
    context.setVelocitiesToTemperature(300, 1)
    state = context.getState(getPositions=True, getVelocities=True)
    plain = lambda values: values.value_in_unit_system(unit.md_unit_system)
    return system, plain(state.getPositions()), plain(state.getVelocities())


class Types:
    """Numbers from 1 on for coefficients that differ."""

    def __init__(self):
        self.numbers = {}

    def of(self, *coefficients):
        return self.numbers.setdefault(coefficients, len(self.numbers) + 1)

    def lines(self):
        return [" ".join([str(n), *(f"{x:.10g}" for x in c)]) for c, n in self.numbers.items()]


def terms_of(system):
    """Atoms' charges and types; bonds, angles and dihedrals as (type, atoms), with their types."""
    import openmm as mm
    import openmm.unit as unit

    force = {type(f): f for f in system.getForces()}
    plain = lambda q: q.value_in_unit_system(unit.md_unit_system)
    kinds = {name: (Types(), []) for name in ("pair", "bond", "angle", "dihedral")}
    types, atoms = kinds["pair"]
    masses = {}
    nonbonded = force[mm.NonbondedForce]
    for i in range(system.getNumParticles()):
        charge, sigma, epsilon = map(plain, nonbonded.getParticleParameters(i))
        mass = plain(system.getParticleMass(i))
        lj = (round(epsilon / KCAL, 10), round(10 * sigma, 10))
        number = types.of(*lj, *lj, mass)
        masses[number] = mass
        atoms.append((number, charge))
    types, bonds = kinds["bond"]
    bonded = force[mm.HarmonicBondForce]
    for k in range(bonded.getNumBonds()):
        i, j, length, strength = bonded.getBondParameters(k)
        bonds.append((types.of(plain(strength) / 2 / KCAL / 100, 10 * plain(length)), (i, j)))
    types, angles = kinds["angle"]
    bent = force[mm.HarmonicAngleForce]
    for k in range(bent.getNumAngles()):
        *of, angle, strength = bent.getAngleParameters(k)
        degrees = round(plain(angle) * 180 / 3.141592653589793, 8)
        angles.append((types.of(plain(strength) / 2 / KCAL, degrees), of))
    types, dihedrals = kinds["dihedral"]
    turned = force[mm.PeriodicTorsionForce]
    for k in range(turned.getNumTorsions()):
        *of, count, phase, strength = turned.getTorsionParameters(k)
        degrees = plain(phase) * 180 / 3.141592653589793
        if abs(degrees - round(degrees)) > 1e-3:
            fail(f"expected phases of whole degrees, got {degrees}")
        if plain(strength) != 0:
            dihedrals.append((types.of(plain(strength) / KCAL, count, round(degrees), 0), of))
    return kinds, masses


def write(name, folder, model, system, positions, velocities):
    kinds, masses = terms_of(system)
    sizes = [10 * x._value for x in model.topology.getUnitCellDimensions()]
    molecule = {a.index: r.index + 1 for r in model.topology.residues() for a in r.atoms()}
    out = [f"{name} in water, by bench/proteins.py", "", f"{len(positions)} atoms"]
    for kind in ("bond", "angle", "dihedral"):
        out.append(f"{len(kinds[kind][1])} {kind}s")
    for kind, text in (("pair", "atom"), ("bond", "bond"), ("angle", "angle"),
                       ("dihedral", "dihedral")):
        out.append(f"{len(kinds[kind][0].numbers)} {text} types")
    out += [""] + [f"0 {s:.10g} {d}lo {d}hi" for s, d in zip(sizes, "xyz")]
    out += ["", "Masses", ""] + [f"{n} {m:.6g}" for n, m in sorted(masses.items())]
    pairs = [line.rsplit(" ", 1)[0] for line in kinds["pair"][0].lines()]
    out += ["", "Pair Coeffs", ""] + pairs
    for kind in ("bond", "angle", "dihedral"):
        out += ["", f"{kind.title()} Coeffs", ""] + kinds[kind][0].lines()
    out += ["", "Atoms # full", ""]
    for i, ((number, charge), p) in enumerate(zip(kinds["pair"][1], positions)):
        at = " ".join(f"{10 * x % s:.8f}" for x, s in zip(p, sizes))
        out.append(f"{i + 1} {molecule[i]} {number} {charge:.6f} {at}")
    out += ["", "Velocities", ""]
    out += [f"{i + 1} " + " ".join(f"{x / 100:.10g}" for x in v) for i, v in enumerate(velocities)]
    for kind in ("bond", "angle", "dihedral"):
        out += ["", f"{kind.title()}s", ""]
        out += [" ".join(map(str, (k + 1, number, *(i + 1 for i in atoms))))
                for k, (number, atoms) in enumerate(kinds[kind][1])]
    (folder / f"{name}.data").write_text("\n".join(out) + "\n")
    (folder / f"{name}.settings").write_text(SETTINGS)


def main():
    line = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    line.add_argument("--bpti", metavar="FILE", help="default: 5PTI of MDAnalysisTests")
    line.add_argument("--lysozyme", metavar="FILE", help="default: none is written")
    line.add_argument("--iterations", type=int, default=200, help="of the minimizer (default: 200)")
    line.add_argument("-o", "--output", metavar="FOLDER", default=".", help="default: here")
    asked = line.parse_args()
    try:
        import openmm  # noqa: F401
        import pdbfixer  # noqa: F401
    except ImportError as e:
        fail(f"{e.name} is not installed: pip install openmm pdbfixer")
    files = {"bpti": asked.bpti or bpti_of_package(), "lysozyme": asked.lysozyme}
    if not any(files.values()):
        fail("expected --bpti FILE, --lysozyme FILE, or MDAnalysisTests to be installed")
    folder = pathlib.Path(asked.output)
    folder.mkdir(parents=True, exist_ok=True)
    for name, file in files.items():
        if file is None:
            continue
        atoms, shape = PAPER[name]
        model, field = in_water(file, atoms, shape)
        system, positions, velocities = relaxed(model, field, asked.iterations)
        write(name, folder, model, system, positions, velocities)
        print(f"{folder / name}.data: {len(positions)} atoms (the paper: {atoms})", flush=True)


if __name__ == "__main__":
    main()
