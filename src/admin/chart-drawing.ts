import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatCount } from './formats.ts';

/** One quantity of a chart. */
export interface Series {
  readonly name: string;
  /** Bars are stacked; lines are drawn over them. */
  readonly kind: 'bar' | 'line';
  /** One for each time. */
  readonly values: readonly number[];
}

const height = 220;

/** The colors of the stylesheet, in the order of the series. */
const colorNames = ['--chart-1', '--chart-2', '--chart-3', '--chart-4'];

/** The share of the space of a time that its bar takes. */
const barShare = 0.6;

/**
 * Draws series over time into an element, as wide as it is, in the colors of the theme.
 * @returns How to remove it.
 */
export function drawChart(place: HTMLElement, times: readonly number[], series: readonly Series[]): () => void {
  let chart: uPlot | undefined;
  const draw = (): void => {
    chart?.destroy();
    const style = getComputedStyle(place);
    const color = (name: string): string => style.getPropertyValue(name).trim();
    const axis = {
      stroke: color('--muted'),
      grid: { stroke: color('--line'), width: 1 },
      ticks: { stroke: color('--line'), width: 1 },
      font: '12px system-ui, sans-serif',
    };
    // Each stack is as high as itself and all below it, and drawn before them.
    const stacked = stackOf(series);
    const space = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / Math.max(1, times.length - 1) / 2;
    const bars = uPlot.paths.bars?.({ size: [barShare, 48] });
    const lines = stacked.map(({ name, kind, index }): uPlot.Series => {
      const stroke = color(colorNames[index % colorNames.length] ?? '');
      return kind === 'line'
        ? { label: name, stroke, width: 2, points: { show: false } }
        : {
            label: name,
            stroke,
            fill: stroke,
            width: 0,
            points: { show: false },
            ...(bars === undefined ? {} : { paths: bars }),
            value: (_chart, _value, _series, position) =>
              position === null ? '' : formatCount(series[index]?.values[position] ?? 0),
          };
    });
    chart = new uPlot(
      {
        width: place.clientWidth,
        height,
        // Room for half a date below the last line of the grid.
        padding: [null, 40, null, null],
        scales: {
          // Room for half a bar at both ends.
          x: { time: true, range: (_chart, first, last) => [first - space, last + space] },
          y: { range: (_chart, _low, high) => [0, Math.max(high, 1) * 1.05] },
        },
        axes: [
          {
            ...axis,
            space: 100,
            values: (_chart, seconds) => seconds.map((each) => dayOf(each)),
          },
          { ...axis, size: 70 },
        ],
        series: [{ label: 'Date', value: (_chart, seconds) => dayOf(seconds) }, ...lines],
        cursor: { drag: { x: false, y: false } },
        legend: { live: true },
      },
      [[...times], ...stacked.map(({ heights }) => [...heights])],
      place,
    );
  };
  draw();
  const resized = new ResizeObserver(() => {
    if (chart !== undefined && chart.width !== place.clientWidth) {
      chart.setSize({ width: place.clientWidth, height });
    }
  });
  resized.observe(place);
  const theme = matchMedia('(prefers-color-scheme: dark)');
  theme.addEventListener('change', draw);
  return () => {
    resized.disconnect();
    theme.removeEventListener('change', draw);
    chart?.destroy();
  };
}

function dayOf(seconds: number | null): string {
  return seconds === null ? '' : new Date(seconds * 1_000).toISOString().slice(0, 10);
}

interface StackedSeries {
  readonly name: string;
  readonly kind: Series['kind'];
  /** Its place among the series. */
  readonly index: number;
  readonly heights: readonly number[];
}

function stackOf(series: readonly Series[]): StackedSeries[] {
  let below: readonly number[] = [];
  const stacked = series.map(({ name, kind, values }, index): StackedSeries => {
    if (kind === 'line') return { name, kind, index, heights: values };
    below = values.map((value, position) => value + (below[position] ?? 0));
    return { name, kind, index, heights: below };
  });
  const bars = stacked.filter(({ kind }) => kind === 'bar');
  return [...bars.toReversed(), ...stacked.filter(({ kind }) => kind === 'line')];
}
