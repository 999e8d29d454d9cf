import { stringifyExact } from '../client/client.ts';

/** A stream of text of the process. */
export interface TextStream {
  write(text: string): boolean;
  once(event: 'drain' | 'close', listener: () => void): unknown;
}

/** The columns of a table: what is above each, and the text of each cell. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => unknown>>;

/** Results go to standard output; everything about them, such as waiting, to standard error. */
export class Output {
  readonly #results: TextStream;
  readonly #messages: TextStream;

  constructor(results: TextStream, messages: TextStream) {
    this.#results = results;
    this.#messages = messages;
  }

  /** Writes a line of the result. @returns when its reader has taken enough for the next one */
  async line(text: string): Promise<void> {
    if (this.#results.write(`${text}\n`)) return;
    await new Promise<void>((resolve) => {
      this.#results.once('drain', resolve);
      this.#results.once('close', resolve);
    });
  }

  /** Writes JSON on one line, with all digits of its numbers. */
  async json(value: unknown): Promise<void> {
    await this.line(stringifyExact(value));
  }

  /** Tells something beside the result. */
  message(text: string): void {
    this.#messages.write(`lendstream: ${text}\n`);
  }

  /** Writes rows below each other; numbers are aligned on the right. */
  async table<Row>(rows: readonly Row[], columns: Columns<Row>): Promise<void> {
    const names = Object.keys(columns);
    const cells = rows.map((row) => names.map((name) => textOf(columns[name]?.(row))));
    const widths = names.map((name, index) => Math.max(name.length, ...cells.map((each) => each[index]?.length ?? 0)));
    const isNumeric = names.map(
      (_, index) => cells.length > 0 && cells.every((each) => numeric.test(each[index] ?? '')),
    );
    const lineOf = (texts: readonly string[]): string =>
      texts
        .map((text, index) => {
          const width = widths[index] ?? 0;
          return isNumeric[index] === true ? text.padStart(width) : text.padEnd(width);
        })
        .join('  ')
        .trimEnd();
    await this.line(lineOf(names.map((name) => name.toUpperCase())));
    for (const each of cells) await this.line(lineOf(each));
  }
}

const numeric = /^(-|-?\d+(\.\d+)?)$/;

/** Control characters of an event must not reach a terminal. */
export function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function textOf(value: unknown): string {
  if (value === undefined || value === null || value === '') return '-';
  return printable(typeof value === 'string' ? value : stringifyExact(value).replaceAll(/^"|"$/g, ''));
}
