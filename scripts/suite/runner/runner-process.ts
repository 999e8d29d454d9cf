import { provideCluster } from '../../../test/support/clusters/provided-cluster.ts';
import { endTestProcess, keepForNextFile } from '../../../test/support/end-of-file.ts';
import { optimizeLess } from './engine-settings.ts';
import { keepThreadsOfBundle } from './kept-threads.ts';
import { runMocha } from './mocha-run.ts';
import { endByItself } from './open-resources.ts';
import { processorSeconds } from './processor-time.ts';
import { endOfFile, type Done, type Request } from './runner-messages.ts';

/**
 * The program of a runner: it runs one test file after another, as the process that started it hands them out. It ends
 * by itself after the last one, when nothing is open any more.
 */
async function serve(request: Request): Promise<void> {
  if (request.kind === 'cluster') {
    provideCluster(request.generation, request.cluster);
  } else if (request.kind === 'run') {
    const before = process.getActiveResourcesInfo();
    const processorSecondsBefore = processorSeconds();
    const outcome = await runMocha([request.compiled], request.backend, 'spec');
    const done: Done = {
      ...outcome,
      processorSeconds: processorSeconds() - processorSecondsBefore,
      opened: added(before, process.getActiveResourcesInfo()),
    };
    process.stdout.write(endOfFile);
    process.send?.(done);
  } else {
    await endTestProcess();
    process.off('disconnect', die);
    process.disconnect();
    process.exitCode = 0;
    endByItself((line) => console.log(line), request.lingerMilliseconds);
  }
}

/** The process that started this one is gone, and so is the use of this one and of all that its tests have started. */
function die(): void {
  process.kill(-process.pid, 'SIGKILL');
}

/** The names that are in the second list more often than in the first. */
function added(before: readonly string[], after: readonly string[]): string[] {
  const rest = [...before];
  return after.filter((name) => {
    const index = rest.indexOf(name);
    if (index >= 0) rest.splice(index, 1);
    return index < 0;
  });
}

optimizeLess();
keepThreadsOfBundle();
keepForNextFile();
process.on('disconnect', die);
process.on('message', (request: Request) => {
  serve(request).catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});
