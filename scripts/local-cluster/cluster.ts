import { parseArgs } from 'node:util';
import { endIfHelpIsAsked, readUsage } from '../read-usage.ts';
import { takeDownAbandoned } from './cluster-note.ts';
import { kafkaVersions, type KafkaVersion } from './kafka-broker.ts';
import { findCluster, startCluster, type LocalCluster } from './local-cluster.ts';

/**
 * scripts/cluster: a Kafka and a Redis for the service, for as long as they are wanted. Standard output carries only
 * the settings to run the service with. All messages go to standard error.
 */
const usage = readUsage('cluster');
endIfHelpIsAsked('cluster');

class WrongUsage extends Error {}

function printLine(line: string): void {
  console.error(line);
}

function addresses(cluster: LocalCluster): string {
  const settings = [`REDIS_URL=${cluster.redisUrl}`];
  if (cluster.brokers.length > 0) settings.unshift(`KAFKA_BROKERS=${cluster.kafkaBrokers.join(',')}`);
  if (cluster.replicaUrl !== undefined) settings.push(`REDIS_REPLICA_URL=${cluster.replicaUrl}`);
  return settings.join('\n');
}

function serversOf(cluster: LocalCluster): LocalCluster['brokers'] {
  return [...cluster.brokers, cluster.redis, ...(cluster.replica === undefined ? [] : [cluster.replica])];
}

function settingsOf(words: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        name: { type: 'string', default: 'default' },
        brokers: { type: 'string' },
        replica: { type: 'boolean' },
        kafka: { type: 'string' },
      },
    });
    const [command = '', ...rest] = positionals;
    if (rest.length > 0) throw new WrongUsage(`"${rest[0]}" is not understood`);
    return { command, ...values };
  } catch (error) {
    throw new WrongUsage((error as Error).message);
  }
}

type Settings = ReturnType<typeof settingsOf>;

interface Shape {
  readonly count: 0 | 1 | 3 | undefined;
  readonly replica: boolean | undefined;
  readonly kafka: KafkaVersion | undefined;
}

/** The options that were given. Those not given are undefined, so that `up` does not change an existing cluster. */
function shapeOf({ brokers, replica, kafka }: Settings): Shape {
  const count = brokers === undefined ? undefined : Number(brokers);
  if (count !== undefined && count !== 0 && count !== 1 && count !== 3) {
    throw new WrongUsage(`--brokers is 0, 1 or 3, not ${brokers}`);
  }
  const isVersion = (text: string): text is KafkaVersion => (kafkaVersions as readonly string[]).includes(text);
  if (kafka !== undefined && !isVersion(kafka)) {
    throw new WrongUsage(`--kafka is ${kafkaVersions.join(' or ')}, not ${kafka}`);
  }
  return { count, replica, kafka };
}

async function up(settings: Settings): Promise<void> {
  const { count, replica, kafka } = shapeOf(settings);
  await takeDownAbandoned(printLine);
  const beginning = performance.now();
  const existing = findCluster(settings.name);
  if (existing === undefined) {
    const cluster = await startCluster({
      name: settings.name,
      outlivesProcess: true,
      printLine,
      ...(count === undefined ? {} : { brokers: count }),
      ...(replica === undefined ? {} : { replica }),
      ...(kafka === undefined ? {} : { kafkaVersion: kafka }),
    });
    printLine(
      `Ready after ${((performance.now() - beginning) / 1000).toFixed(1)} s. scripts/cluster down takes it down.`,
    );
    console.log(addresses(cluster));
    return;
  }
  const differs =
    (count !== undefined && count !== existing.brokers.length) ||
    (replica === true && existing.replica === undefined) ||
    (kafka !== undefined && kafka !== existing.kafkaVersion);
  if (differs) throw new Error(`Cluster ${settings.name} is there, but another one: take it down first`);
  const down = serversOf(existing).filter((server) => server.condition() === 'gone');
  printLine(
    down.length === 0
      ? `Cluster ${settings.name} is up already`
      : `Starting what does not run: ${down.map(({ name }) => name).join(', ')} ...`,
  );
  await existing.start();
  console.log(addresses(existing));
}

function status({ name }: Settings): void {
  const cluster = findCluster(name);
  if (cluster === undefined) {
    printLine(`Cluster ${name} is not up`);
    process.exitCode = 1;
    return;
  }
  printLine(`Cluster ${name}, Kafka ${cluster.kafkaVersion}`);
  for (const server of serversOf(cluster)) {
    const pid = server.condition() === 'gone' ? '' : `, process ${server.process?.pid}`;
    printLine(`  ${server.name}: ${server.condition()}${pid}, port ${server.port}, output in ${server.logFile}`);
  }
  if (serversOf(cluster).every((server) => server.condition() === 'running')) console.log(addresses(cluster));
  else process.exitCode = 1;
}

async function down({ name }: Settings): Promise<void> {
  await takeDownAbandoned(printLine);
  const cluster = findCluster(name);
  if (cluster === undefined) {
    printLine(`Cluster ${name} is not up`);
    return;
  }
  await cluster.stop();
  printLine(`Cluster ${name} is down`);
}

async function run(): Promise<void> {
  const settings = settingsOf(process.argv.slice(2));
  switch (settings.command) {
    case 'up':
      return up(settings);
    case 'status':
      return status(settings);
    case 'down':
      return down(settings);
    default:
      throw new WrongUsage(settings.command === '' ? 'What to do?' : `"${settings.command}" is not understood`);
  }
}

run().catch((error: unknown) => {
  console.error(`lendstream: ${error instanceof Error ? error.message : String(error)}`);
  if (error instanceof WrongUsage) console.error(usage);
  process.exitCode = error instanceof WrongUsage ? 2 : 1;
});
