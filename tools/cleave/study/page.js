// What the pages of all studies do. page.cpp puts it into them, after their data.
const quantile = (values, part) => {
  const v = [...values].sort((a, b) => a - b), at = part * (v.length - 1), low = Math.floor(at);
  return v.length ? v[low] + (at - low) * (v[Math.min(low + 1, v.length - 1)] - v[low]) : NaN;
};
const median = values => quantile(values, .5);
const text = (tag, words, parent, name) => { const e = document.createElement(tag); e.textContent = words; if (name) e.className = name; parent.append(e); return e; };
// A table with these columns, in a box that can be scrolled.
const table_in = (parent, columns) => {
  const table = text('table', '', text('div', '', parent, 'wide')), head = text('tr', '', table);
  columns.forEach(words => text('th', words, head));
  return table;
};
if (study.disturbed)
  text('p', `Disturbed: ${study.disturbed}. The machine was busy with something else, so nothing here is compared or coloured. Close other programs and run it again.`, document.getElementById('disturbed'), 'disturbed').setAttribute('role', 'alert');
if (window.Chart) {
  Chart.defaults.animation = false;
  Chart.defaults.font.family = 'system-ui, sans-serif';
}
const section = (title, about) => {
  const s = text('section', '', document.getElementById('sections'));
  text('h2', title, s); text('p', about, s, 'quiet');
  return s;
};
const plot = (parent, height, config) => {
  if (!window.Chart) return text('p', 'No plot: this was built without Chart.js.', parent);
  const box = text('div', '', parent, 'plot'); box.style.height = height + 'px';
  const canvas = text('canvas', '', box);
  canvas.setAttribute('role', 'img'); canvas.setAttribute('aria-label', config.options.plugins?.title?.text ?? parent.querySelector('h2').textContent);
  config.options = Object.assign({ responsive: true, maintainAspectRatio: false }, config.options);
  return new Chart(canvas, config);
};
// A table that does not fit says so, as long as its right end is out of sight.
document.addEventListener('DOMContentLoaded', () => {
  for (const box of document.querySelectorAll('.wide')) {
    const mark = () => box.classList.toggle('cut', box.scrollLeft + box.clientWidth < box.scrollWidth - 2);
    box.addEventListener('scroll', mark);
    new ResizeObserver(mark).observe(box);
    mark();
  }
});
