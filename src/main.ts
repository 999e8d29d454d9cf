import { createApp, type App } from './app.ts';
import { after, systemClock, type Timer } from './clock.ts';
import { readConfig } from './config.ts';
import { describeError, isLendstreamError } from './errors.ts';
import { createLogger } from './logger.ts';

/** The process: arguments, signals, exit codes, and what a person at the terminal reads. */

/** A second Ctrl-C this soon after the first is the same key press, delivered once more by a wrapper such as npm. */
const sameKeyPressMilliseconds = 300;

/** Errors of the machine or the settings. They are shown in one line, without a stack. */
const startUpErrorCodes = [
  'CONFIGURATION_INVALID',
  'DATA_FOLDER_IN_USE',
  'DATA_FOLDER_UNUSABLE',
  'ADDRESS_UNAVAILABLE',
  'LOG_UNAVAILABLE',
  'COORDINATION_UNAVAILABLE',
];

/** The exit code when a part has failed that the process cannot continue without: EX_SOFTWARE of sysexits.h. */
const partFailedExitCode = 70;

/** How long a process with a failed part may take to end its streams and its other work. Milliseconds. */
const shutdownMillisecondsMaximum = 5_000;

/** A start that takes longer than this says where it can be watched. Milliseconds. */
const quickStartMilliseconds = 1_000;

function exitWithError(error: unknown): never {
  const isExpected = isLendstreamError(error) && startUpErrorCodes.includes(error.code);
  process.stderr.write(`lendstream: ${isExpected || !(error instanceof Error) ? describeError(error) : error.stack}\n`);
  process.exit(1);
}

async function main(): Promise<void> {
  // Files of this process are for its own user alone, even in a folder that existed before.
  process.umask(0o077);
  const config = readConfig(process.env);
  const isTerminal = process.stderr.isTTY;
  const logger = createLogger(config.logLevel, {
    isReadable: config.logFormat === 'text' || (config.logFormat === 'auto' && isTerminal),
    hasColours: isTerminal && (process.env['NO_COLOR'] ?? '') === '',
  });
  const app = await createApp(config, logger);

  let isStopping = false;
  let stoppingSince: number | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    isStopping = true;
    const now = systemClock.monotonic();
    if (stoppingSince !== undefined) {
      if (now - stoppingSince < sameKeyPressMilliseconds) return;
      process.exit(signal === 'SIGINT' ? 130 : 143);
    }
    stoppingSince = now;
    process.stdout.write('Stopping: open streams get their last line. Press Ctrl-C again to stop at once.\n');
    app.stop().then(
      () => process.exit(0),
      (error: unknown) => exitWithError(error),
    );
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);

  void app.ended.then((reason) => {
    isStopping = true;
    const exit = (): never => {
      process.stderr.write(`lendstream: ${reason} The process ends and must be restarted.\n`);
      process.exit(partFailedExitCode);
    };
    void systemClock.sleep(shutdownMillisecondsMaximum).then(exit);
    void app.stop().finally(exit);
  });

  let address: string;
  try {
    address = await startVisibly(app);
  } catch (error) {
    // What stops the process also ends it.
    if (isStopping) return;
    throw error;
  }
  const { cluster, dataFolder, roles } = config;
  const storage = cluster === undefined ? `data in ${dataFolder}` : `Kafka at ${cluster.kafkaBrokers.join(', ')}`;
  const lines = [`Lendstream is ready at ${address} (${storage})`];
  if (roles.serve) {
    lines.push(`The admin page is at ${address}/admin`);
    lines.push('See it at work: run scripts/demo in another terminal.');
  }
  lines.push('Stop it with Ctrl-C.', '');
  process.stdout.write(lines.join('\n'));
}

/** Starts the app, and says where its health is shown when that takes long. */
async function startVisibly(app: App): Promise<string> {
  let notice: Timer | undefined;
  try {
    return await app.start({
      onListening: (address) => {
        const line = `Lendstream listens at ${address} and is starting; ${address}/health shows how far it is.\n`;
        notice = after(systemClock, quickStartMilliseconds, () => process.stdout.write(line));
      },
    });
  } finally {
    notice?.cancel();
  }
}

// The reader of standard output may be gone (a closed pipe). The service continues without it.
process.stdout.on('error', () => undefined);
process.on('unhandledRejection', exitWithError);
main().catch(exitWithError);
