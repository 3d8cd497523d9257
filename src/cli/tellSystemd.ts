import { spawn } from 'node:child_process';

/**
 * Tells systemd that a service of `Type=notify` is ready, or stops, where it is one. By a program: Node has no datagram sockets
 * of that kind, so the unit needs `NotifyAccess=all`. Where the program is missing systemd hears nothing, and says so itself.
 */
export function tellSystemd(state: 'READY=1' | 'STOPPING=1'): void {
  if (!process.env['NOTIFY_SOCKET']) return;
  const child = spawn('systemd-notify', [state], { stdio: 'ignore' });
  child.on('error', () => undefined);
  child.unref();
}
