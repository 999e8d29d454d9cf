import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../src/package-root.ts';
import { cacheFolder } from './cache-folder.ts';
import type { KafkaVersion } from './kafka-broker.ts';

/** The folder of a version's jars, whether they have been fetched or not. */
export function jarFolder(version: KafkaVersion): string {
  return join(cacheFolder(), `kafka-${version}`);
}

/** Whether the jars of a version have been fetched for this user. */
export function jarsAreFetched(version: KafkaVersion): boolean {
  return existsSync(jarFolder(version));
}

/**
 * Fetches the jars of the pinned pom, once per user. They appear under their final name all at once, so an interrupted
 * fetch leaves nothing half done, and two fetches at the same time do no harm.
 */
export async function fetchJars(version: KafkaVersion, printLine: (line: string) => void): Promise<void> {
  if (jarsAreFetched(version)) return;
  printLine(`Fetching the jars of Apache Kafka ${version} with Maven (once, about 55 MB) ...`);
  const arriving = `${jarFolder(version)}.arriving-${process.pid}`;
  mkdirSync(cacheFolder(), { recursive: true, mode: 0o700 });
  try {
    await promisify(execFile)('mvn', [
      '--quiet',
      '--batch-mode',
      '--file',
      join(packageRoot, `scripts/kafka/pom-${version}.xml`),
      'dependency:copy-dependencies',
      '-DincludeScope=runtime',
      `-DoutputDirectory=${arriving}`,
    ]);
    renameSync(arriving, jarFolder(version));
  } catch (error) {
    rmSync(arriving, { recursive: true, force: true });
    if (jarsAreFetched(version)) return;
    const { stdout = '', message } = error as Error & { stdout?: string };
    throw new Error(`The jars of Apache Kafka ${version} cannot be fetched: ${stdout.trim() || message}`, {
      cause: error,
    });
  }
}
