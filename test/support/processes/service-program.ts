import { fileURLToPath } from 'node:url';

/** Names the program of the service that a test run made for its tests; see scripts/suite/service-bundle.ts. */
export const serviceProgramVariable = 'TEST_SERVICE_PROGRAM';

/** The service as tests start it in a process: that of the test run, else what was compiled together with this file. */
export const serviceProgram =
  process.env[serviceProgramVariable] ?? fileURLToPath(new URL('../../../src/main.js', import.meta.url));
