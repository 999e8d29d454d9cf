import { fileURLToPath } from 'node:url';

/** Names the program of the service that a test run made for its tests; see scripts/suite/service-bundle.ts. */
export const serviceProgramVariable = 'TEST_SERVICE_PROGRAM';

/** The service as it was compiled together with this file, for tests that change one of its modules. */
export const compiledServiceProgram = fileURLToPath(new URL('../../../src/main.js', import.meta.url));

/** The service as tests start it in a process: that of the test run, else the compiled one. */
export const serviceProgram = process.env[serviceProgramVariable] ?? compiledServiceProgram;
