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

/** JSON lines on standard error, so that standard output stays free for text that people read. */
export function createLogger(level: LogLevel): Logger {
  return pino({ level, base: { service: 'lendstream' } }, pino.destination({ dest: 2, sync: true }));
}

export const silentLogger: Logger = {
  error: () => {},
  warn: () => {},
  info: () => {},
  debug: () => {},
  child: () => silentLogger,
};
