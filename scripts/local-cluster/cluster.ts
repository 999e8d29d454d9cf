import { WrongUsage, flag, oneOf, orEnd, readCommandLine, text, type OptionValues } from '../command-line.ts';
import { endIfHelpIsAsked } from '../read-usage.ts';
import { takeDownAbandoned } from './cluster-note.ts';
import { kafkaVersions } from './kafka-broker.ts';
import { findCluster, startCluster, type LocalCluster } from './local-cluster.ts';

/**
 * scripts/cluster: a Kafka and a Redis for the service, for as long as they are wanted. Standard output carries only
 * the settings to run the service with. All messages go to standard error.
 */

/** Where an option is not given, `up` accepts an existing cluster as it is. */
const options = {
  name: text('default'),
  brokers: oneOf(['0', '1', '3'], undefined),
  replica: flag,
  kafka: oneOf(kafkaVersions, undefined),
};

const brokerCounts = { '0': 0, '1': 1, '3': 3 } as const;

type Settings = OptionValues<typeof options>;

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

async function up({ name, brokers, replica, kafka }: Settings): Promise<void> {
  const count = brokers === undefined ? undefined : brokerCounts[brokers];
  await takeDownAbandoned(printLine);
  const beginning = performance.now();
  const existing = findCluster(name);
  if (existing === undefined) {
    const cluster = await startCluster({
      name,
      replica,
      outlivesProcess: true,
      printLine,
      ...(count === undefined ? {} : { brokers: count }),
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
    (replica && existing.replica === undefined) ||
    (kafka !== undefined && kafka !== existing.kafkaVersion);
  if (differs) throw new Error(`Cluster ${name} is there, but another one: take it down first`);
  const down = serversOf(existing).filter((server) => server.condition() === 'gone');
  printLine(
    down.length === 0
      ? `Cluster ${name} is up already`
      : `Starting what does not run: ${down.map((server) => server.name).join(', ')} ...`,
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

const commands = { up, status, down };

/** @throws WrongUsage when the words are not the name of one command */
function commandOf([name, superfluous]: readonly string[]): (settings: Settings) => Promise<void> | void {
  if (name === undefined) throw new WrongUsage(`${Object.keys(commands).join(' or ')} is missing`);
  if (!Object.hasOwn(commands, name)) throw new WrongUsage(`"${name}" is not understood`);
  if (superfluous !== undefined) throw new WrongUsage(`"${superfluous}" is not understood`);
  return commands[name as keyof typeof commands];
}

async function run(): Promise<void> {
  const { command, settings } = orEnd(() => {
    const { values, names } = readCommandLine(process.argv.slice(2), options);
    return { command: commandOf(names), settings: values };
  });
  await command(settings);
}

endIfHelpIsAsked('cluster');
run().catch((error: unknown) => {
  console.error(`lendstream: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
