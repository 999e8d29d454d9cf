import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { installPackages } from './apt-get.ts';

/** A program of the machine that a local cluster needs, and the Debian package that contains it. */
export interface Prerequisite {
  readonly name: string;
  readonly debianPackage: string;
  readonly isThere: () => boolean;
}

const javaVersionMinimum = 17;

/** The java program: that of JAVA_HOME, or else the one on the PATH. */
export function javaProgram(): string {
  const { JAVA_HOME: home = '' } = process.env;
  return home === '' ? 'java' : join(home, 'bin/java');
}

function javaIsThere(): boolean {
  const { stderr } = spawnSync(javaProgram(), ['-version'], { encoding: 'utf8' });
  const version = /version "(\d+)/.exec(stderr ?? '')?.[1];
  return version !== undefined && Number(version) >= javaVersionMinimum;
}

/** Whether a program can be started by its name alone. */
export function isOnPath(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

export const java: Prerequisite = {
  name: `Java ${javaVersionMinimum}`,
  debianPackage: 'openjdk-17-jre-headless',
  isThere: javaIsThere,
};
export const maven: Prerequisite = { name: 'Maven', debianPackage: 'maven', isThere: () => isOnPath('mvn') };
export const redisServer: Prerequisite = {
  name: 'redis-server',
  debianPackage: 'redis-server',
  isThere: () => isOnPath('redis-server'),
};

/**
 * For tests in a browser and for pictures of the admin page. A whole Chromium also draws a window of its own, which
 * doubles its processor time.
 */
export const chromiumBrowser: Prerequisite = {
  name: "Chromium's headless shell",
  debianPackage: 'chromium-headless-shell',
  isThere: () =>
    (process.env['CHROMIUM'] ?? '') !== '' || isOnPath('chromium-headless-shell') || isOnPath('google-chrome'),
};

/** What this process may do on the machine. */
export interface Machine {
  readonly hasAptGet: boolean;
  readonly isRoot: boolean;
}

/** What to do about missing programs: install these packages, or show the user this text. */
export type Remedy = { readonly install: readonly string[] } | { readonly tell: string };

/** Installs as root where apt-get exists; otherwise the user has to install. */
export function remedyFor(missing: readonly Prerequisite[], machine: Machine): Remedy {
  const packages = missing.map(({ debianPackage }) => debianPackage);
  if (machine.hasAptGet && machine.isRoot) return { install: packages };
  const names = missing.map(({ name }) => name).join(', ');
  return {
    tell: machine.hasAptGet
      ? `${names}: not found. Install with: sudo apt-get install --yes ${packages.join(' ')}`
      : `${names}: not found on the PATH. Install with the system's package manager ` +
        `(Debian's names: ${packages.join(' ')}; Homebrew's: openjdk@17 maven redis)`,
  };
}

/** Asks a person at a terminal. Elsewhere, as in continuous integration, no person can be asked, and it agrees. */
async function agree(question: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return true;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${question} [y/N] `);
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}

/**
 * Makes sure that everything needed is there. Installs what is missing where it may, and reports that.
 * @param mayInstall Asks before anything is installed.
 * @throws Error with the command that installs it, where it may not install
 */
export async function provide(
  needed: readonly Prerequisite[],
  printLine: (line: string) => void,
  mayInstall: (question: string) => Promise<boolean> = agree,
): Promise<void> {
  const missing = needed.filter(({ isThere }) => !isThere());
  if (missing.length === 0) return;
  const remedy = remedyFor(missing, {
    hasAptGet: existsSync('/etc/debian_version') && isOnPath('apt-get'),
    isRoot: process.getuid?.() === 0,
  });
  if ('tell' in remedy) throw new Error(remedy.tell);
  const packages = remedy.install.join(' ');
  if (!(await mayInstall(`Missing on this machine: ${packages}. Install with apt-get as root?`))) {
    throw new Error(`Install it yourself: apt-get install --yes --no-install-recommends ${packages}`);
  }
  printLine(`Installing with apt-get: ${packages} ...`);
  const stillMissing = (): readonly Prerequisite[] => missing.filter(({ isThere }) => !isThere());
  await installPackages(() => stillMissing().map(({ debianPackage }) => debianPackage), printLine);
  const still = stillMissing().map(({ name }) => name);
  if (still.length > 0) throw new Error(`${still.join(', ')}: still not found`);
}
