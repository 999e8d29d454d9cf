import type { Express } from 'express';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:http';

/** One method of one path that the routers of an application serve. */
export interface MountedRoute {
  /** In upper case; `ALL` for a route that serves every method. */
  readonly method: string;
  /** As the API description writes it, with the prefixes of its routers: `/loans/{loanAccountId}:changeState`. */
  readonly path: string;
}

/** What the routers of an application have. */
export interface Mounted {
  readonly routes: readonly MountedRoute[];
  /** The paths of functions that serve all below them and are no routers. Those of every path are left out. */
  readonly handlers: readonly string[];
}

/** Express gives no types for the parts of its routers. */
interface Layer {
  readonly rawPath: string | RegExp | readonly (string | RegExp)[];
  readonly route?: { readonly methods: Readonly<Record<string, boolean>> };
  readonly handle: Handle;
}

/** A router has a stack, and one handler in place of several has these. */
interface Handle {
  readonly stack?: readonly Layer[];
  readonly handlers?: readonly Handle[];
}

/** The application behind a server of this process. */
export async function applicationAt(url: string): Promise<Express> {
  let server: Server | undefined;
  const collect = (message: unknown): void => {
    server = (message as { server: Server }).server;
  };
  subscribe('http.server.request.start', collect);
  await (await fetch(`${url}/health`)).text();
  unsubscribe('http.server.request.start', collect);
  return server?.listeners('request')[0] as unknown as Express;
}

/** Walks all routers of an application. HEAD is left out, as the routes of GET serve it. */
export function mountedIn(application: Express): Mounted {
  const routes: MountedRoute[] = [];
  const handlers: string[] = [];
  const walk = (layers: readonly Layer[], prefix: string): void => {
    for (const { rawPath, route, handle } of layers) {
      for (const path of [rawPath].flat().map((part) => joined(prefix, String(part)))) {
        if (route !== undefined) {
          routes.push(...methodsOf(route.methods).map((method) => ({ method, path: templateOf(path) })));
        } else if (handle.stack !== undefined) walk(handle.stack, path);
        else if (handle.handlers !== undefined)
          walk(
            handle.handlers.map((each) => ({ rawPath: '/', handle: each })),
            path,
          );
        else if (path !== '/') handlers.push(path);
      }
    }
  };
  walk((application.router as unknown as { readonly stack: readonly Layer[] }).stack, '/');
  return { routes, handlers };
}

/** A route with methods of its own refuses the others by a handler of all: that one is no method. */
function methodsOf(methods: Readonly<Record<string, boolean>>): string[] {
  const own = Object.keys(methods).filter((method) => method !== '_all' && method !== 'head');
  return own.length === 0 && methods['_all'] === true ? ['ALL'] : own.map((method) => method.toUpperCase());
}

function joined(prefix: string, path: string): string {
  return `${prefix === '/' ? '' : prefix}${path === '/' && prefix !== '/' ? '' : path}`;
}

function templateOf(path: string): string {
  return path
    .replaceAll(String.raw`\:`, '\0')
    .replaceAll(/:(\w+)/g, '{$1}')
    .replaceAll('\0', ':');
}
