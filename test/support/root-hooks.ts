import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '../../src/logger.ts';
import { endTestFile } from './end-of-file.ts';
import { RecordedResponses, responsesFolderVariable } from './http/recorded-responses.ts';
import { faultsOf } from './http/response-check.ts';
import { watchResponses } from './http/response-watch.ts';
import { findingsFileVariable, watchStandardError } from './logs/lines-with-secrets.ts';
import { LogFindings, watchSilentLogger, watchThreadsOfTests } from './logs/secrets-in-logs.ts';
import { responseWatch, responseWatchName } from './processes/service-program.ts';

/**
 * Applies to every test run: each response of the service, in this process or in one that a test starts, must match
 * schemas/openapi.json, and no line of a log may have keys, passwords or texts about people. Otherwise the test fails.
 */
let recording: Recording | undefined;
/** Of the responses of this process. */
const faults: string[] = [];

/** What the tests of a file leave behind for these checks, in this process and in those that they start. */
interface Recording {
  readonly folder: string;
  readonly findingsFile: string;
  readonly responses: RecordedResponses;
  readonly findings: LogFindings;
}

function startRecording(): Recording {
  const folder = mkdtempSync(join(tmpdir(), 'lendstream-responses-'));
  const findingsFile = `${folder}-log-findings`;
  return { folder, findingsFile, responses: new RecordedResponses(folder), findings: new LogFindings(findingsFile) };
}

export const mochaHooks = {
  beforeAll(): void {
    // A process that runs one file after another gets here once for each.
    recording = startRecording();
    process.env[responsesFolderVariable] = recording.folder;
    process.env[findingsFileVariable] = recording.findingsFile;
    const options = process.env['NODE_OPTIONS'] ?? '';
    if (!options.includes(responseWatchName)) process.env['NODE_OPTIONS'] = `${options} ${responseWatch}`.trim();
    watchResponses((response) => faults.push(...faultsOf(response)));
    watchSilentLogger(silentLogger);
    watchStandardError();
    watchThreadsOfTests();
  },
  afterEach(): void {
    throwFaults();
  },
  async afterAll(): Promise<void> {
    try {
      await endTestFile();
      throwFaults();
    } finally {
      if (recording !== undefined) {
        rmSync(recording.folder, { recursive: true, force: true });
        rmSync(recording.findingsFile, { force: true });
      }
    }
  },
};

function throwFaults(): void {
  const all = [...faults.splice(0), ...(recording?.responses.take() ?? []).flatMap(faultsOf)];
  if (all.length > 0) {
    throw new Error(`Responses that are not as schemas/openapi.json describes them:\n${all.join('\n')}`);
  }
  const found = recording?.findings.take() ?? [];
  if (found.length > 0) throw new Error(`Lines of logs with what must not be in them:\n${found.join('\n')}`);
}
