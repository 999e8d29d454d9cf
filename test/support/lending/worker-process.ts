import { silentLogger } from '../../../src/logger.ts';
import { openCoordinationUnderTest, openLogOfProcesses } from '../backend-under-test.ts';
import { openLendingLog, startWorker } from './lending-log.ts';
import { SteppingRegistry, type WorkerStep, withSteps } from '../stepping-log.ts';

/**
 * A lending worker in a separate process that kills itself with SIGKILL at a step of its loop: nothing is flushed,
 * closed or notified, as in a power failure. Arguments: the data folder, its node id, the step, how many times it must
 * be reached (1 is the first), and for how many milliseconds the process lives on with its worker suspended.
 */
const [dataFolder = '', dyingNodeId = '', fatalStep = '', occurrence = '1', delayMilliseconds = '0'] =
  process.argv.slice(2);
let left = Number(occurrence);

const onStep = (step: WorkerStep): Promise<void> | void => {
  if (step !== fatalStep) return;
  left -= 1;
  if (left > 0) return;
  const end = (): void => void process.kill(process.pid, 'SIGKILL');
  if (delayMilliseconds === '0') end();
  else setTimeout(end, Number(delayMilliseconds));
  return new Promise(() => {});
};

async function run(): Promise<void> {
  const plainLog = await openLendingLog(dataFolder, 1, openLogOfProcesses);
  const coordination = await openCoordinationUnderTest(dataFolder, plainLog);
  const log = withSteps(plainLog, onStep);
  const registry = new SteppingRegistry(log, silentLogger);
  await registry.start();
  registry.onStep = onStep;
  await startWorker(log, { registry, coordination, nodeId: dyingNodeId, commandsPerCommitMaximum: 4 });
}

void run();
