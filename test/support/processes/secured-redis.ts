import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { findFreePorts } from '../../../scripts/local-cluster/free-ports.ts';
import { eventually } from '../eventually.ts';
import type { Certified } from '../tls/certificates.ts';

/** A Redis that accepts clients over TLS alone, each as a user with a password. */
export interface SecuredRedis {
  readonly port: number;
  /** Changes users. */
  readonly admin: Redis;
  stop(): Promise<void>;
}

const adminPassword = 'the-password-of-the-admin';

/** Whether the redis-server of this machine was built with TLS. */
export function isRedisWithTls(): boolean {
  const { stdout } = spawnSync('redis-server', ['--port', '0', '--tls-port', '0', '--check-system'], {
    encoding: 'utf8',
  });
  return !/unknown|not support|bad directive/i.test(stdout ?? '');
}

/** @param users Lines of a file of users, beside which there is only the admin. */
export async function startSecuredRedis(
  folder: string,
  certified: Certified,
  ca: string,
  users: readonly string[],
): Promise<SecuredRedis> {
  mkdirSync(folder, { recursive: true });
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const lines = ['user default off', `user admin on >${adminPassword} ~* &* +@all`, ...users, ''];
  const [port = 0] = await findFreePorts(1);
  const settings: Record<string, string> = {
    port: '0',
    bind: '127.0.0.1',
    dir: folder,
    save: '',
    'tls-port': String(port),
    'tls-cert-file': write('tls.crt', certified.certificate),
    'tls-key-file': write('tls.key', certified.key),
    'tls-ca-cert-file': write('ca.crt', ca),
    'tls-auth-clients': 'no',
    aclfile: write('users.acl', lines.join('\n')),
  };
  const words = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const child = spawn('redis-server', words, { stdio: 'ignore' });
  const killWithProcess = (): void => void child.kill('SIGKILL');
  process.once('exit', killWithProcess);
  const exited = once(child, 'exit');
  const admin = new Redis({
    host: '127.0.0.1',
    port,
    username: 'admin',
    password: adminPassword,
    tls: { ca },
    retryStrategy: () => 50,
  });
  admin.on('error', () => undefined);
  await eventually(() => admin.status === 'ready');
  return {
    port,
    admin,
    async stop() {
      admin.disconnect();
      child.kill('SIGKILL');
      await exited;
      process.off('exit', killWithProcess);
    },
  };
}
