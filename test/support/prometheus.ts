/**
 * Evaluates scraped metrics like Prometheus, as far as the alerts of docs/operating.md need it: selectors, `rate` and
 * `increase` with their extrapolation, `histogram_quantile`, `sum` and `max`, comparisons with a number, and `unless`.
 */

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Scrape {
  /** Seconds, on any clock. */
  readonly at: number;
  readonly samples: readonly Sample[];
}

/** A value for each set of labels. */
type Vector = readonly Omit<Sample, 'name'>[];

/** The samples in Prometheus's text format. */
export function readExposition(text: string): Sample[] {
  return [...text.matchAll(/^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/gm)].map(([, name = '', labels = '', value]) => ({
    name,
    labels: Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, text]) => [label, text])),
    value: Number(value),
  }));
}

/** The result of an expression at a time; empty when nothing matches. @throws for unsupported syntax */
export function evaluate(expression: string, scrapes: readonly Scrape[], at: number): Vector {
  const parser = new Parser(expression, scrapes, at);
  const vector = parser.unless();
  parser.end();
  return vector;
}

/** How long a series is used after its last scrape. Seconds. */
const lookbackSeconds = 300;

const tokenPattern = /\s*("(?:[^"\\]|\\.)*"|=~|==|[\d.]+e\d+|[\d.]+m|[\d.]+|\w+|[(){}[\],=><])/y;

class Parser {
  readonly #tokens: string[] = [];
  readonly #scrapes: readonly Scrape[];
  readonly #at: number;
  #next = 0;

  constructor(expression: string, scrapes: readonly Scrape[], at: number) {
    tokenPattern.lastIndex = 0;
    for (let match = tokenPattern.exec(expression); match !== null; match = tokenPattern.exec(expression)) {
      this.#tokens.push(match[1] ?? '');
    }
    if (this.#tokens.join('').length !== expression.replaceAll(/\s/g, '').length) {
      throw new Error(`This expression is not understood: ${expression}`);
    }
    this.#scrapes = scrapes;
    this.#at = at;
  }

  end(): void {
    if (this.#next < this.#tokens.length) throw new Error(`Not understood from ${this.#tokens[this.#next]} on`);
  }

  unless(): Vector {
    let left = this.#comparison();
    while (this.#consumeIf('unless')) {
      const on = this.#consumeIf('on') ? this.#labelNames() : undefined;
      const right = new Set(this.#comparison().map(({ labels }) => keyOf(labels, on)));
      left = left.filter(({ labels }) => !right.has(keyOf(labels, on)));
    }
    return left;
  }

  #comparison(): Vector {
    const vector = this.#operand();
    if (this.#consumeIf('>')) {
      const bound = Number(this.#consume());
      return vector.filter(({ value }) => value > bound);
    }
    if (this.#consumeIf('==')) {
      const wanted = Number(this.#consume());
      return vector.filter(({ value }) => value === wanted);
    }
    return vector;
  }

  #operand(): Vector {
    if (this.#consumeIf('(')) return this.#closed(this.unless());
    const name = this.#consume();
    if (name === 'sum' || name === 'max') {
      const by = this.#consumeIf('by') ? this.#labelNames() : [];
      this.#expect('(');
      return aggregate(name, by, this.#closed(this.unless()));
    }
    if (name === 'rate' || name === 'increase') {
      this.#expect('(');
      const { series, seconds } = this.#range();
      return this.#closed(
        series.flatMap(({ labels, points }) => {
          const increase = increaseOf(points, this.#at, seconds);
          if (increase === undefined) return [];
          return [{ labels, value: name === 'rate' ? increase / seconds : increase }];
        }),
      );
    }
    if (name === 'histogram_quantile') {
      this.#expect('(');
      const quantile = Number(this.#consume());
      this.#expect(',');
      return histogramQuantile(quantile, this.#closed(this.unless()));
    }
    const matches = this.#matchers(name);
    const scrape = this.#scrapes.findLast(({ at }) => at <= this.#at && at > this.#at - lookbackSeconds);
    return scrape?.samples.filter(matches) ?? [];
  }

  #range(): { series: { labels: Sample['labels']; points: Point[] }[]; seconds: number } {
    const matches = this.#matchers(this.#consume());
    this.#expect('[');
    const seconds = Number.parseFloat(this.#consume()) * 60;
    this.#expect(']');
    const series = new Map<string, { labels: Sample['labels']; points: Point[] }>();
    for (const { at, samples } of this.#scrapes) {
      if (at <= this.#at - seconds || at > this.#at) continue;
      for (const { labels, value } of samples.filter(matches)) {
        const key = keyOf(labels);
        const known = series.get(key) ?? { labels, points: [] };
        series.set(key, known);
        known.points.push({ at, value });
      }
    }
    return { series: [...series.values()], seconds };
  }

  #matchers(name: string): (sample: Sample) => boolean {
    const matchers: ((labels: Sample['labels']) => boolean)[] = [];
    if (this.#consumeIf('{')) {
      do {
        const label = this.#consume();
        const operator = this.#consume();
        const text = JSON.parse(this.#consume()) as string;
        const pattern = new RegExp(`^(?:${text})$`);
        matchers.push((labels) => (operator === '=~' ? pattern.test(labels[label] ?? '') : labels[label] === text));
      } while (this.#consumeIf(','));
      this.#expect('}');
    }
    return (sample) => sample.name === name && matchers.every((matcher) => matcher(sample.labels));
  }

  #labelNames(): string[] {
    const names: string[] = [];
    this.#expect('(');
    do names.push(this.#consume());
    while (this.#consumeIf(','));
    return this.#closed(names);
  }

  #closed<Value>(value: Value): Value {
    this.#expect(')');
    return value;
  }

  #consume(): string {
    this.#next += 1;
    return this.#tokens[this.#next - 1] ?? '';
  }

  #consumeIf(token: string): boolean {
    const isNext = this.#tokens[this.#next] === token;
    if (isNext) this.#next += 1;
    return isNext;
  }

  #expect(token: string): void {
    const found = this.#consume();
    if (found !== token) throw new Error(`Expected ${token}, found ${found}`);
  }
}

interface Point {
  /** Seconds. */
  readonly at: number;
  readonly value: number;
}

function keyOf(labels: Sample['labels'], names = Object.keys(labels).sort()): string {
  return JSON.stringify(names.map((name) => [name, labels[name] ?? '']));
}

function aggregate(operation: 'sum' | 'max', by: readonly string[], vector: Vector): Vector {
  const groups = new Map<string, { labels: Sample['labels']; value: number }>();
  for (const { labels, value } of vector) {
    const key = keyOf(labels, [...by]);
    const before = groups.get(key)?.value;
    const together = operation === 'sum' ? (before ?? 0) + value : Math.max(before ?? -Infinity, value);
    groups.set(key, { labels: Object.fromEntries(by.map((name) => [name, labels[name] ?? ''])), value: together });
  }
  return [...groups.values()];
}

/**
 * Extrapolates to both ends of the range where the samples are near them, otherwise half a step beyond; never below
 * zero.
 */
function increaseOf(points: readonly Point[], end: number, seconds: number): number | undefined {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || points.length < 2) return undefined;
  const increase = points.reduce((sum, { value }, index) => {
    const before = points[index - 1]?.value ?? value;
    return sum + (value < before ? value : value - before);
  }, 0);
  const sampled = last.at - first.at;
  const step = sampled / (points.length - 1);
  const extended = (gap: number): number => (gap < step * 1.1 ? gap : step / 2);
  const toZero = increase > 0 ? sampled * (first.value / increase) : Infinity;
  const before = Math.min(extended(first.at - (end - seconds)), toZero);
  return increase * ((sampled + before + extended(end - last.at)) / sampled);
}

function histogramQuantile(quantile: number, buckets: Vector): Vector {
  const sorted = buckets
    .map(({ labels, value }) => ({ bound: labels['le'] === '+Inf' ? Infinity : Number(labels['le']), count: value }))
    .sort((left, right) => left.bound - right.bound);
  const total = sorted.at(-1)?.count ?? 0;
  if (total === 0) return [];
  const rank = quantile * total;
  const index = sorted.findIndex(({ count }) => count >= rank);
  const [lower, upper] = [sorted[index - 1] ?? { bound: 0, count: 0 }, sorted[index]];
  if (upper === undefined) return [];
  if (upper.bound === Infinity) return [{ labels: {}, value: lower.bound }];
  const share = (rank - lower.count) / (upper.count - lower.count);
  return [{ labels: {}, value: lower.bound + (upper.bound - lower.bound) * share }];
}
