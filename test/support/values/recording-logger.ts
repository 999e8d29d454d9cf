import type { Logger } from '../../../src/logger.ts';
import { checkedLogger } from '../logs/secrets-in-logs.ts';

export interface LogLine {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
}

/**
 * A logger that keeps its lines.
 * @param count How many of the last ones. Default: all.
 */
export function recordingLogger<Line extends LogLine>(
  count = Infinity,
): {
  readonly logger: Logger;
  readonly lines: Line[];
} {
  const lines: Line[] = [];
  const write =
    (level: LogLine['level']) =>
    (facts: object, message: string): void => {
      lines.push({ level, message, ...facts } as Line);
      if (lines.length > count) lines.shift();
    };
  const logger = checkedLogger({ info: write('info'), warn: write('warn'), error: write('error') });
  return { logger, lines };
}
