import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Names the program of the service that a test run made for its tests; see scripts/suite/service-bundle.ts. */
export const serviceProgramVariable = 'TEST_SERVICE_PROGRAM';

const bundle = process.env[serviceProgramVariable];

/** The service as it was compiled together with this file, for tests that change one of its modules. */
export const compiledServiceProgram = fileURLToPath(new URL('../../../src/main.js', import.meta.url));

/** The service as tests start it in a process: that of the test run, else the compiled one. */
export const serviceProgram = bundle ?? compiledServiceProgram;

/** The option of a process of the service that ends it at a step of passing over an event; in the same bundle. */
export const killWhilePassingOver =
  bundle === undefined
    ? `--import=${new URL('./kill-while-passing-over-preload.js', import.meta.url).href}`
    : `--require=${join(dirname(bundle), 'kill-while-passing-over.js')}`;

/** The option of a process of the service that measures itself, see test/fuzz; in the same bundle. */
export const measuring =
  bundle === undefined
    ? `--import=${new URL('../../fuzz/measuring-preload.js', import.meta.url).href}`
    : `--require=${join(dirname(bundle), 'measuring-preload.js')}`;

/** What the options of a process that watches its responses contain, wherever they were made. */
export const responseWatchName = 'response-watch-preload';

/** The option in NODE_OPTIONS of each process that a test starts; a small file in the same bundle. */
export const responseWatch =
  bundle === undefined
    ? `--import=${new URL(`../http/${responseWatchName}.js`, import.meta.url).href}`
    : JSON.stringify(`--require=${join(dirname(bundle), `${responseWatchName}.js`)}`);

/** The lending worker that ends at a step, in a process of its own; a test run has it in the same bundle. */
export const dyingWorkerProgram =
  bundle === undefined
    ? fileURLToPath(new URL('../lending/worker-process.js', import.meta.url))
    : join(dirname(bundle), 'dying-worker.js');
