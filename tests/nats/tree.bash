# A tree of seven relays: chiba; below it kobe and osaka; below these two more each, of which one has the same name.
# Each site's folder has its path as a name, its machine is SITE.m1.
sites=(chiba kobe osaka kobe.tokyo kobe.nara osaka.tokyo osaka.kyoto)
above() {  # SITE: the site of the relay above
  case $1 in
    *.*) echo "${1%.*}" ;;
    *) echo chiba ;;
  esac
}
