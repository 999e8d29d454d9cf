import { providedCluster } from '../../test/support/clusters/provided-cluster.ts';
import { programsOfCluster } from '../local-cluster/local-cluster.ts';
import { chromiumBrowser, provide } from '../local-cluster/prerequisites.ts';
import { kafkaVersionOf } from './test-clusters.ts';
import type { Need } from './test-files.ts';

/**
 * Installs the programs that tests need, where it may, all of them at once: the package manager works once for them.
 * What is still missing then is reported by what needs it.
 */
export async function providePrograms(needs: readonly Need[]): Promise<void> {
  const programs = needs.flatMap((need) => {
    if (need === 'browser') return [chromiumBrowser];
    if (need === 'servers') return programsOfCluster(1, kafkaVersionOf('current'));
    return providedCluster(need) === undefined ? programsOfCluster(1, kafkaVersionOf(need)) : [];
  });
  try {
    await provide([...new Set(programs)], (line) => console.error(line));
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
  }
}
