import { pino } from 'pino';

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

/**
 * Structured logging: an object of facts first, one sentence second. It has the shape of pino, which only this module
 * imports.
 */
export interface Logger {
  error(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  info(facts: object, message: string): void;
  debug(facts: object, message: string): void;
  child(facts: object): Logger;
}

export interface LogOutput {
  /** Whether lines are made for a person at a terminal. Otherwise they are JSON, at no further cost. */
  readonly isReadable: boolean;
  /** Whether readable lines have colours. */
  readonly hasColours: boolean;
}

/** Writes to standard error, so that standard output stays free for text that people read. */
export function createLogger(level: LogLevel, { isReadable, hasColours }: LogOutput): Logger {
  const destination = pino.destination({ dest: 2, sync: true });
  const base = { service: 'lendstream' };
  if (!isReadable) return pino({ level, base }, destination);
  return pino({ level, base }, { write: (line) => destination.write(`${readableLine(line, hasColours)}\n`) });
}

/** The escape sequences of terminals. */
const [dim, red, yellow, plain] = ['\u001B[2m', '\u001B[31m', '\u001B[33m', '\u001B[0m'];

/** What every line has in JSON, and a person does not need. */
const standardFields = new Set(['level', 'time', 'service', 'msg']);

/**
 * A line of JSON as a person reads it: the local time, the level, the sentence and the facts. A fact of several lines,
 * such as a stack, follows below.
 */
export function readableLine(line: string, hasColours: boolean): string {
  const fields = JSON.parse(line) as Record<string, unknown> & { level: number; time: number; msg?: string };
  const { level, time, msg = '' } = fields;
  const coloured = (colour: string, text: string): string => (hasColours ? `${colour}${text}${plain}` : text);
  const facts = Object.entries(fields).filter(([name]) => !standardFields.has(name));
  const isLong = ([, value]: [string, unknown]): boolean => typeof value === 'string' && value.includes('\n');
  const short = facts.filter((fact) => !isLong(fact)).map(([name, value]) => `${name}=${shownFact(value)}`);
  const below = facts.filter(isLong).map(([name, value]) => `\n  ${name}: ${String(value).replaceAll('\n', '\n    ')}`);
  const label = pino.levels.labels[level] ?? String(level);
  const colour = level >= 50 ? red : level >= 40 ? yellow : dim;
  const begin = `${coloured(dim, localTime(new Date(time)))} ${coloured(colour, label.padEnd(5))} ${msg}`;
  return `${begin}${short.length === 0 ? '' : `  ${coloured(dim, short.join(' '))}`}${below.join('')}`;
}

function shownFact(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}

function localTime(at: Date): string {
  const digits = (value: number, length: number): string => String(value).padStart(length, '0');
  const clock = [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => digits(part, 2)).join(':');
  return `${clock}.${digits(at.getMilliseconds(), 3)}`;
}

export const silentLogger: Logger = {
  error: () => {},
  warn: () => {},
  info: () => {},
  debug: () => {},
  child: () => silentLogger,
};
