import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  checkName,
  claimNote,
  readNote,
  rewriteNote,
  takeDownAbandoned,
  takeDownNoted,
  type ClusterNote,
} from './cluster-note.ts';
import { keepAfterProcess, endWithProcess } from './end-with-process.ts';
import { findFreePorts } from './free-ports.ts';
import { kafkaProgram, knownBrokers, type KafkaVersion } from './kafka-broker.ts';
import { fetchJars, jarFolder, jarsAreFetched } from './kafka-jars.ts';
import { prepareQuickStart } from './kafka-quick-start.ts';
import { java, javaProgram, maven, provide, redisServer, type Prerequisite } from './prerequisites.ts';
import { identify } from './process-identity.ts';
import { redisProgram } from './redis-server.ts';
import { createServer, PortTaken, type Server } from './server.ts';

/** A real Kafka and a real Redis on this machine, without Docker, as tests and benchmarks use them. */
export interface LocalCluster {
  readonly name: string;
  /** Empty when the cluster was started with 0 brokers. */
  readonly brokers: readonly Server[];
  readonly redis: Server;
  readonly replica: Server | undefined;
  /** host:port of each broker. */
  readonly kafkaBrokers: readonly string[];
  readonly redisUrl: string;
  readonly replicaUrl: string | undefined;
  readonly kafkaVersion: KafkaVersion;
  /** Starts those of its servers that are not running. */
  start(): Promise<void>;
  /** Ends all its servers and removes their data. */
  stop(): Promise<void>;
}

export interface ClusterOptions {
  /** Clusters with different names exist side by side. By default a name that belongs to this process. */
  readonly name?: string;
  /** 0 is a Redis alone. 1 by default. */
  readonly brokers?: 0 | 1 | 3;
  /** A second Redis that replicates the first. */
  readonly replica?: boolean;
  readonly kafkaVersion?: KafkaVersion;
  /**
   * How long its only broker may be silent until it serves nothing. Milliseconds. A broker that was killed has to wait
   * so long, too. Two seconds by default.
   */
  readonly sessionMilliseconds?: number;
  /** Whether it outlives this process until it is taken down by its name. False by default. */
  readonly outlivesProcess?: boolean;
  /** Called with progress messages, line by line. */
  readonly printLine?: (line: string) => void;
}

/** How often other ports are tried when one was taken between its choice and its use. */
const portAttemptsMaximum = 4;
const membershipMillisecondsMaximum = 60_000;
const pollMilliseconds = 25;
const sessionMillisecondsDefault = 2_000;

let clustersOfThisProcess = 0;

/**
 * Starts a cluster and returns when all its servers respond.
 * @throws Error with what is missing, with the output of a server that does not start, or because the name is in use
 */
export async function startCluster(options: ClusterOptions = {}): Promise<LocalCluster> {
  const { brokers = 1, kafkaVersion = '4.3.1', printLine = () => undefined } = options;
  checkName(options.name ?? nameOfThisProcess());
  await takeDownAbandoned(printLine);
  await provideServers(brokers, kafkaVersion, printLine);
  return await startProvided(options);
}

/** @param javaOptions Of the brokers, instead of those of a quick start. */
async function startProvided(options: ClusterOptions, javaOptions?: readonly string[]): Promise<LocalCluster> {
  const {
    brokers = 1,
    replica = false,
    kafkaVersion = '4.3.1',
    outlivesProcess = false,
    sessionMilliseconds = sessionMillisecondsDefault,
    printLine = () => undefined,
  } = options;
  clustersOfThisProcess += 1;
  const name = options.name ?? nameOfThisProcess();
  for (let attempt = 1; ; attempt += 1) {
    const note = await newNote({
      name,
      brokerCount: brokers,
      withReplica: replica,
      kafkaVersion,
      owned: !outlivesProcess,
      sessionMilliseconds,
    });
    if (!claimNote(note)) {
      rmSync(note.folder, { recursive: true, force: true });
      throw new Error(`Cluster ${name} exists already: scripts/cluster down --name ${name} takes it down`);
    }
    endWithProcess(name);
    const cluster = clusterOf(note, javaOptions);
    try {
      await cluster.start();
      if (outlivesProcess) keepAfterProcess(name);
      return cluster;
    } catch (error) {
      await cluster.stop();
      if (!(error instanceof PortTaken) || attempt === portAttemptsMaximum) throw error;
      printLine(`${error.message}; trying others`);
    }
  }
}

function nameOfThisProcess(): string {
  return `process-${process.pid}-${clustersOfThisProcess}`;
}

/** The cluster with that name, started by this program or another one; undefined when there is none. */
export function findCluster(name: string): LocalCluster | undefined {
  checkName(name);
  const note = readNote(name);
  return note === undefined ? undefined : clusterOf(note);
}

/** The programs of the machine that a cluster needs, whether they are there or not. */
export function programsOfCluster(brokers: number, kafkaVersion: KafkaVersion): readonly Prerequisite[] {
  if (brokers === 0) return [redisServer];
  return [java, ...(jarsAreFetched(kafkaVersion) ? [] : [maven]), redisServer];
}

async function provideServers(
  brokers: number,
  kafkaVersion: KafkaVersion,
  printLine: (line: string) => void,
): Promise<void> {
  await provide(programsOfCluster(brokers, kafkaVersion), printLine);
  if (brokers === 0) return;
  await fetchJars(kafkaVersion, printLine);
  await prepareQuickStart(kafkaVersion, (javaOptions) => startProvided({ kafkaVersion }, javaOptions), printLine);
}

interface NoteOptions extends Pick<ClusterNote, 'name' | 'kafkaVersion' | 'owned' | 'sessionMilliseconds'> {
  readonly brokerCount: number;
  readonly withReplica: boolean;
}

async function newNote({ brokerCount, withReplica, ...given }: NoteOptions): Promise<ClusterNote> {
  const ports = [...(await findFreePorts(brokerCount * 2 + 2))];
  const nextPort = (): number => ports.pop() ?? 0;
  const starter = identify(process.pid);
  if (starter === undefined) throw new Error('This process cannot be observed: /proc or ps is needed');
  return {
    ...given,
    // Kafka would treat an id that begins with a hyphen as an option.
    clusterId: `L${randomBytes(15).toString('base64url')}A`,
    folder: mkdtempSync(join(tmpdir(), `lendstream-cluster-${given.name}-`)),
    starter,
    complete: false,
    brokers: Array.from({ length: brokerCount }, (_, index) => ({
      node: index + 1,
      port: nextPort(),
      controllerPort: nextPort(),
    })),
    redis: { port: nextPort() },
    ...(withReplica ? { replica: { port: nextPort() } } : {}),
  };
}

function clusterOf(written: ClusterNote, javaOptions?: readonly string[]): LocalCluster {
  let note = written;
  const rewrite = (change: Partial<ClusterNote>): void => {
    note = { ...note, ...change };
    rewriteNote(note);
  };
  const { name, folder, kafkaVersion, clusterId } = note;
  const kafka = {
    version: kafkaVersion,
    clusterId,
    java: javaProgram(),
    jarFolder: jarFolder(kafkaVersion),
    nodes: note.brokers,
    sessionMilliseconds: note.sessionMilliseconds,
    ...(javaOptions === undefined ? {} : { javaOptions }),
  };
  const brokers = note.brokers.map((own) =>
    createServer(kafkaProgram(kafka, own, join(folder, `broker-${own.node}`)), own.process, (process) =>
      rewrite({ brokers: note.brokers.map((broker) => (broker.node === own.node ? { ...broker, process } : broker)) }),
    ),
  );
  const redis = createServer(
    redisProgram('redis', join(folder, 'redis'), note.redis.port),
    note.redis.process,
    (process) => rewrite({ redis: { ...note.redis, process } }),
  );
  const replicaPort = note.replica?.port;
  const replica =
    replicaPort === undefined
      ? undefined
      : createServer(
          redisProgram('replica', join(folder, 'replica'), replicaPort, note.redis.port),
          note.replica?.process,
          (process) => rewrite({ replica: { port: replicaPort, process } }),
        );
  const url = (server: Server): string => `redis://127.0.0.1:${server.port}`;

  return {
    name,
    brokers,
    redis,
    replica,
    kafkaBrokers: brokers.map(({ port }) => `127.0.0.1:${port}`),
    redisUrl: url(redis),
    replicaUrl: replica === undefined ? undefined : url(replica),
    kafkaVersion,
    async start() {
      if (!note.complete && note.starter.pid !== process.pid) {
        throw new Error(`Cluster ${name} is being started by process ${note.starter.pid}`);
      }
      const starting = [...brokers.map((broker) => broker.start()), redis.start().then(() => replica?.start())];
      // Wait for all of them, so that none is still starting when the failure is reported.
      for (const result of await Promise.allSettled(starting)) if (result.status === 'rejected') throw result.reason;
      await waitUntilAllAreMembers(brokers);
      if (!note.complete) rewrite({ complete: true });
    },
    async stop() {
      await takeDownNoted(note);
      keepAfterProcess(name);
    },
  };
}

async function waitUntilAllAreMembers(brokers: readonly Server[]): Promise<void> {
  const deadline = performance.now() + membershipMillisecondsMaximum;
  for (const { name, port } of brokers) {
    while ((await knownBrokers(port)).length < brokers.length) {
      if (performance.now() > deadline) throw new Error(`${name} does not know all ${brokers.length} brokers`);
      await sleep(pollMilliseconds);
    }
  }
}
