import { execFile, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import kafkajs, { type AclEntry, type Admin } from 'kafkajs';
import { findFreePorts } from '../../../scripts/local-cluster/free-ports.ts';
import { classArchive, formatFolder, serverProperties } from '../../../scripts/local-cluster/kafka-broker.ts';
import { fetchJars, jarFolder } from '../../../scripts/local-cluster/kafka-jars.ts';
import { keep } from '../../../scripts/local-cluster/kafka-quick-start.ts';
import { programsOfCluster } from '../../../scripts/local-cluster/local-cluster.ts';
import { javaProgram, provide } from '../../../scripts/local-cluster/prerequisites.ts';
// Else each connection of its client would wake this process a thousand times a second.
import '../../../src/kafka/connection/request-queues.ts';
import { packageRoot } from '../../../src/package-root.ts';
import { eventually } from '../eventually.ts';
import type { Certified } from '../tls/certificates.ts';

// A module of CommonJS whose names Node.js does not see.
const { AclPermissionTypes, Kafka, logLevel } = kafkajs;

/** A broker that accepts clients over TLS with a password alone, and lets them do what a rule allows. */
export interface SecuredBroker {
  /** `host:port` for clients. */
  readonly address: string;
  /** Changes rules, on a listener that has neither TLS nor passwords. */
  readonly admin: Admin;
  stop(): Promise<void>;
}

const version = '4.3.1';

/**
 * Starts a broker with an authorizer.
 * @param folder Where its files are made.
 * @param users Names and passwords, for PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512.
 */
export async function startSecuredBroker(
  folder: string,
  { certificate, key }: Certified,
  users: Readonly<Record<string, string>>,
): Promise<SecuredBroker> {
  const printLine = (line: string): void => void process.stderr.write(`${line}\n`);
  await provide(programsOfCluster(1, version), printLine);
  await fetchJars(version, printLine);
  const [port = 0, controllerPort = 0, securePort = 0] = await findFreePorts(3);
  mkdirSync(folder, { recursive: true });
  const keystore = join(folder, 'keystore.pem');
  writeFileSync(keystore, `${key}\n${certificate}\n`);
  const properties = join(folder, 'server.properties');
  const own = { node: 1, port, controllerPort };
  const plain = serverProperties({ nodes: [own], sessionMilliseconds: 60_000 }, own, folder)
    .replace(/^listeners=.*$/m, `$&,SECURE://127.0.0.1:${securePort}`)
    .replace(/^advertised\.listeners=.*$/m, `$&,SECURE://127.0.0.1:${securePort}`)
    .replace(/^listener\.security\.protocol\.map=.*$/m, '$&,SECURE:SASL_SSL');
  const plainUsers = Object.entries(users).map(([name, password]) => `user_${name}="${password}"`);
  const scram = 'org.apache.kafka.common.security.scram.ScramLoginModule required;';
  const secured = [
    'inter.broker.listener.name=PLAINTEXT',
    'authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'allow.everyone.if.no.acl.found=false',
    'super.users=User:ANONYMOUS',
    'ssl.keystore.type=PEM',
    `ssl.keystore.location=${keystore}`,
    'listener.name.secure.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
    `listener.name.secure.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required ${plainUsers.join(' ')};`,
    `listener.name.secure.scram-sha-256.sasl.jaas.config=${scram}`,
    `listener.name.secure.scram-sha-512.sasl.jaas.config=${scram}`,
    '',
  ];
  writeFileSync(properties, `${plain}\n${secured.join('\n')}`);
  const classes = ['-cp', join(jarFolder(version), '*')];
  const archive = `-XX:SharedArchiveFile=${classArchive(jarFolder(version))}`;
  const quick = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', archive];
  const scramUsers = Object.entries(users).flatMap(([name, password]) =>
    ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
      '--add-scram',
      `${mechanism}=[name=${name},password=${password}]`,
    ]),
  );
  const clusterId = `L${randomBytes(15).toString('base64url')}A`;
  const logs = join(folder, 'logs');
  // The users are in what a new cluster has; the same are there each time.
  const usersHash = createHash('sha256').update(JSON.stringify(users)).digest('hex').slice(0, 16);
  const kept = join(jarFolder(version), `secured-${usersHash}.checkpoint`);
  if (existsSync(kept)) {
    formatFolder(logs, clusterId, own.node, kept);
  } else {
    const format = ['kafka.tools.StorageTool', 'format', '-t', clusterId, '-c', properties, ...scramUsers];
    await promisify(execFile)(javaProgram(), ['-Xmx128m', ...quick, ...classes, ...format]);
    keep(join(logs, 'bootstrap.checkpoint'), kept);
  }
  const logFile = join(folder, 'output.log');
  const log = openSync(logFile, 'a');
  const logging = `-Dlog4j2.configurationFile=${join(packageRoot, 'scripts/kafka/log4j2.properties')}`;
  const program = ['-Xmx512m', '-Xms256m', ...quick, logging, ...classes, 'kafka.Kafka', properties];
  const child = spawn(javaProgram(), program, { stdio: ['ignore', log, log] });
  closeSync(log);
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const killWithProcess = (): void => void child.kill('SIGKILL');
  process.once('exit', killWithProcess);
  const connect = async (): Promise<Admin | undefined> => {
    if (child.exitCode !== null) throw new Error(`The broker ended:\n${readFileSync(logFile, 'utf8').slice(-3_000)}`);
    const brokers = [`127.0.0.1:${port}`];
    const created = new Kafka({ brokers, retry: { retries: 0 }, logLevel: logLevel.NOTHING }).admin();
    try {
      await created.connect();
      await created.describeCluster();
      return created;
    } catch {
      await created.disconnect().catch(() => undefined);
      return undefined;
    }
  };
  let admin: Admin | undefined;
  await eventually(async () => (admin = await connect()) !== undefined, 60_000);
  if (admin === undefined) throw new Error('The broker does not respond');
  const connected = admin;
  return {
    address: `127.0.0.1:${securePort}`,
    admin: connected,
    async stop() {
      await connected.disconnect();
      child.kill('SIGKILL');
      await exited;
      process.off('exit', killWithProcess);
    },
  };
}

/** A rule without the address of the client, which is any. */
export function allowing(
  rule: Pick<AclEntry, 'principal' | 'resourceType' | 'resourceName' | 'resourcePatternType' | 'operation'>,
): AclEntry {
  return { ...rule, host: '*', permissionType: AclPermissionTypes.ALLOW };
}
