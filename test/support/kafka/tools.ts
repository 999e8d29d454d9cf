import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { classArchive } from '../../../scripts/local-cluster/kafka-broker.ts';
import { fetchJars, jarFolder } from '../../../scripts/local-cluster/kafka-jars.ts';
import { java, javaProgram, maven, provide } from '../../../scripts/local-cluster/prerequisites.ts';

/** The programs of Apache Kafka itself, as an operator runs them. */
export type KafkaTool =
  | 'org.apache.kafka.tools.consumer.group.ConsumerGroupCommand'
  | 'org.apache.kafka.tools.ConsoleProducer';

/**
 * Runs one of the programs of Kafka to its end and returns its output.
 * @param input Passed to it as standard input.
 */
export async function runKafkaTool(
  tool: KafkaTool,
  brokers: readonly string[],
  parameters: readonly string[],
  input = '',
): Promise<string> {
  await provide([java, maven], () => undefined);
  await fetchJars('4.3.1', () => undefined);
  const folder = jarFolder('4.3.1');
  const quick = ['-Xmx128m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
  // A broker's, which has most of their classes.
  const options = [...quick, `-XX:SharedArchiveFile=${classArchive(folder)}`, '-cp', join(folder, '*'), tool];
  const child = spawn(javaProgram(), [...options, '--bootstrap-server', brokers.join(','), ...parameters], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const printed: Buffer[] = [];
  const complaints: Buffer[] = [];
  child.stdout.on('data', (bytes: Buffer) => printed.push(bytes));
  child.stderr.on('data', (bytes: Buffer) => complaints.push(bytes));
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${tool} ended with ${code}: ${Buffer.concat(complaints).toString()}`);
  return Buffer.concat(printed).toString();
}
