import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { classArchive, newClusterFeatures, type KafkaVersion } from './kafka-broker.ts';
import { jarFolder } from './kafka-jars.ts';
import type { Server } from './server.ts';

/** What it needs of a cluster that it starts. */
interface StartedCluster {
  readonly brokers: readonly Server[];
  stop(): Promise<void>;
}

/**
 * Starts and ends a broker once, and keeps beside the jars what each later start would compute again: the archive of
 * its classes, and the features of a new cluster. That halves the processor time of a start. Another process may do the
 * same at the same time.
 * @param start Starts a cluster of one broker with these options of Java.
 */
export async function prepareQuickStart(
  version: KafkaVersion,
  start: (javaOptions: readonly string[]) => Promise<StartedCluster>,
  printLine: (line: string) => void,
): Promise<void> {
  const jars = jarFolder(version);
  if (existsSync(classArchive(jars)) && existsSync(newClusterFeatures(jars))) return;
  printLine(`Starting Apache Kafka ${version} once, to make later starts quicker ...`);
  const arriving = `${classArchive(jars)}.arriving-${process.pid}`;
  const cluster = await start([`-XX:ArchiveClassesAtExit=${arriving}`]);
  try {
    for (const broker of cluster.brokers) {
      await broker.kill('SIGTERM');
      keep(join(dirname(broker.logFile), 'logs/bootstrap.checkpoint'), newClusterFeatures(jars));
    }
    if (existsSync(arriving)) renameSync(arriving, classArchive(jars));
  } finally {
    await cluster.stop();
    rmSync(arriving, { force: true });
  }
}

/** Copies a file so that no other process sees half of it. */
export function keep(from: string, to: string): void {
  const arriving = `${to}.arriving-${process.pid}`;
  copyFileSync(from, arriving);
  renameSync(arriving, to);
}
