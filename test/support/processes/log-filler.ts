import { EmbeddedLog } from '../../../src/embedded/log.ts';
import { silentLogger } from '../../../src/logger.ts';
import { appendTo, codeOf } from '../log-reading.ts';
import { incompressible } from '../values/incompressible.ts';

/** Appends to a log until that fails, and prints the code of the error. Argument: data folder. */
const log = await EmbeddedLog.open({ dataFolder: process.argv[2] ?? '', logger: silentLogger });
await log.createTopic({ name: 'orders', partitionCount: 1, cleanupPolicy: 'delete', retentionMilliseconds: Infinity });
const value = incompressible(64 * 1024);
let code: unknown = null;
while (code === null) code = await codeOf(appendTo(log, { topic: 'orders', partition: 0 }, [{ key: null, value }]));
process.stdout.write(code as string);
process.exit();
