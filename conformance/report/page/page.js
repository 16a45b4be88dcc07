// SPDX-License-Identifier: Apache-2.0
// Draws the plots of the report from the data in the page. The tables stand without it.
(() => {
  'use strict';
  const plots = JSON.parse(document.getElementById('plots').textContent);
  const style = getComputedStyle(document.documentElement);
  const colour = name => style.getPropertyValue(name).trim();
  const good = colour('--good'), bad = colour('--bad'), ink = colour('--dim');
  let drawn = 0;

  const axis = (title, logarithmic) => ({
    type: logarithmic ? 'logarithmic' : 'linear',
    title: { display: true, text: title, color: ink },
    ticks: { color: ink }, beginAtZero: !logarithmic,
  });
  const bars = plot => ({
    type: 'bar',
    data: {
      labels: plot.points.map(point => point.label || String(point.x)),
      datasets: [{ data: plot.points.map(point => point.y), backgroundColor: plot.points.map(point => point.marked ? bad : good) }],
    },
    options: { scales: { x: { title: { display: true, text: plot.x_label, color: ink }, ticks: { color: ink } },
                         y: axis(plot.y_label, plot.kind === 'outcomes') } },
  });
  const line = plot => ({
    type: 'line',
    data: { datasets: [{ data: plot.points.map(point => ({ x: point.x, y: point.y })), borderColor: good, backgroundColor: good,
                         pointBackgroundColor: plot.points.map(point => point.marked ? bad : good) }] },
    options: { scales: { x: axis(plot.x_label, plot.kind === 'sweep'), y: axis(plot.y_label, false) } },
  });

  for (const plot of plots) {
    const canvas = document.getElementById(plot.id);
    if (!canvas || !window.Chart) continue;
    const bare = plot.kind === 'sweep' || (plot.kind === 'distribution' && plot.points.every(point => !point.label));
    const config = bare ? line(plot) : bars(plot);
    Object.assign(config.options, { animation: false, responsive: true, maintainAspectRatio: false,
                                    plugins: { legend: { display: false } } });
    new window.Chart(canvas, config);
    ++drawn;
  }
  document.body.dataset.plotsDrawn = String(drawn); // what a test in a browser looks at
})();
