import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../src/package-root.ts';
import type { ServerProgram } from './server.ts';

/** The versions of Apache Kafka that a local cluster can run: those with a pom in scripts/kafka. */
export const kafkaVersions = ['4.3.1', '3.9.1'] as const;
export type KafkaVersion = (typeof kafkaVersions)[number];

/** The ports of one node, and its number from 1. */
export interface KafkaNode {
  readonly node: number;
  readonly port: number;
  readonly controllerPort: number;
}

export interface KafkaSettings {
  readonly version: KafkaVersion;
  /** Of the cluster: 22 characters base64url, the same on every node. */
  readonly clusterId: string;
  readonly java: string;
  readonly jarFolder: string;
  readonly nodes: readonly KafkaNode[];
  /** How long the only node may be silent until it serves nothing. Milliseconds. */
  readonly sessionMilliseconds: number;
  /** Of the broker, instead of those of a quick start. */
  readonly javaOptions?: readonly string[];
}

/** Where the classes that a broker loads lie as Java keeps them in memory. Java ignores an archive it cannot use. */
export function classArchive(folder: string): string {
  return join(folder, 'classes.jsa');
}

/** Where the features lie that a new cluster of this version has; the same for all clusters. */
export function newClusterFeatures(folder: string): string {
  return join(folder, 'bootstrap.checkpoint');
}

/** Keeps a node small and its start quick: several nodes share a machine with what is tested against them. */
const quickStart = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-XX:-UsePerfData'];
const heapOfOne = ['-Xmx512m', '-Xms256m'];
const heapOfThree = ['-Xmx400m', '-Xms200m'];

/** How often the only broker reports to itself until it counts as silent. */
const heartbeatsInSession = 4;

const connectMillisecondsMaximum = 300;
const requestMillisecondsMaximum = 1_000;

const template = (file: string): string => join(packageRoot, 'scripts/kafka', file);

/** The node's server.properties: the templates of scripts/kafka, filled in. */
export function serverProperties(
  { nodes, sessionMilliseconds }: Pick<KafkaSettings, 'nodes' | 'sessionMilliseconds'>,
  own: KafkaNode,
  folder: string,
): string {
  const values: Record<string, string> = {
    node: String(own.node),
    port: String(own.port),
    controllerPort: String(own.controllerPort),
    voters: nodes.map(({ node, controllerPort }) => `${node}@127.0.0.1:${controllerPort}`).join(','),
    folder,
    sessionMilliseconds: String(sessionMilliseconds),
    heartbeatMilliseconds: String(sessionMilliseconds / heartbeatsInSession),
  };
  const replication = nodes.length === 1 ? 'one-broker.properties' : 'three-brokers.properties';
  const text = readFileSync(template('server.properties'), 'utf8') + readFileSync(template(replication), 'utf8');
  return text.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => values[name] ?? placeholder);
}

/** Writes the node's settings each time, and what makes its folder one of this cluster once. */
async function prepareFolder(settings: KafkaSettings, own: KafkaNode, folder: string): Promise<void> {
  const properties = join(folder, 'server.properties');
  mkdirSync(folder, { recursive: true });
  writeFileSync(properties, serverProperties(settings, own, folder));
  const logs = join(folder, 'logs');
  if (existsSync(join(logs, 'meta.properties'))) return;
  const features = newClusterFeatures(settings.jarFolder);
  if (!existsSync(features)) return format(settings, properties);
  formatFolder(logs, settings.clusterId, own.node, features);
}

/**
 * Makes the folder of a node's logs: what Kafka's own program would write, without a second of Java.
 * @param features A file with what a new cluster has, see {@link newClusterFeatures}.
 */
export function formatFolder(logs: string, clusterId: string, node: number, features: string): void {
  mkdirSync(logs);
  copyFileSync(features, join(logs, 'bootstrap.checkpoint'));
  const directoryId = randomBytes(16).toString('base64url');
  const identity = [`version=1`, `cluster.id=${clusterId}`, `node.id=${node}`];
  writeFileSync(join(logs, 'meta.properties'), [...identity, `directory.id=${directoryId}`, ''].join('\n'));
}

async function format({ jarFolder, java, clusterId }: KafkaSettings, properties: string): Promise<void> {
  const program = ['-cp', join(jarFolder, '*'), 'kafka.tools.StorageTool'];
  const options = ['format', '-t', clusterId, '-c', properties];
  await promisify(execFile)(java, ['-Xmx128m', ...quickStart, ...program, ...options]);
}

/**
 * The addresses of the brokers known to the broker on this port. Uses a new client: one that failed stays broken.
 */
export async function knownBrokers(port: number): Promise<readonly string[]> {
  // Takes a tenth of a second, and most programs that know this one start no Kafka.
  await import('../../src/kafka/connection/request-queues.ts');
  const { Kafka, logLevel } = await import('kafkajs');
  const admin = new Kafka({
    clientId: 'lendstream-local-cluster',
    brokers: [`127.0.0.1:${port}`],
    connectionTimeout: connectMillisecondsMaximum,
    requestTimeout: requestMillisecondsMaximum,
    retry: { retries: 0 },
    logLevel: logLevel.NOTHING,
  }).admin();
  try {
    await admin.connect();
    const { brokers, controller } = await admin.describeCluster();
    if (controller === null || controller < 0) throw new Error('There is no controller yet');
    return brokers.map((broker) => `${broker.host}:${broker.port}`);
  } finally {
    await admin.disconnect();
  }
}

/** How to prepare, start and probe one Kafka node. */
export function kafkaProgram(settings: KafkaSettings, own: KafkaNode, folder: string): ServerProgram {
  const logging = settings.version.startsWith('3.')
    ? `-Dlog4j.configuration=file:${template('log4j.properties')}`
    : `-Dlog4j2.configurationFile=${template('log4j2.properties')}`;
  return {
    name: `broker ${own.node}`,
    port: own.port,
    logFile: join(folder, 'output.log'),
    command: [
      settings.java,
      ...(settings.nodes.length === 1 ? heapOfOne : heapOfThree),
      ...quickStart,
      ...(settings.javaOptions ?? [`-XX:SharedArchiveFile=${classArchive(settings.jarFolder)}`]),
      logging,
      '-cp',
      join(settings.jarFolder, '*'),
      'kafka.Kafka',
      join(folder, 'server.properties'),
    ],
    prepare: () => prepareFolder(settings, own, folder),
    probe: async () => {
      const address = `127.0.0.1:${own.port}`;
      if (!(await knownBrokers(own.port)).includes(address)) throw new Error(`${address} is not in the cluster yet`);
    },
  };
}
