import { EmbeddedLog } from '../../../src/embedded/log.ts';
import { silentLogger } from '../../../src/logger.ts';

/** Opens the log in the folder of its argument, reports that, and holds it until it is killed. */
const [dataFolder = ''] = process.argv.slice(2);
await EmbeddedLog.open({ dataFolder, logger: silentLogger });
process.stdout.write('holding\n');
