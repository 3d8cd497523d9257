import { spawn } from 'node:child_process';

/**
 * Notifies systemd if the service has `Type=notify`. Node has no Unix datagram sockets, so systemd-notify is run, and
 * the unit needs `NotifyAccess=all`. If the program is missing, systemd reports that itself.
 */
export function notifySystemd(state: 'READY=1' | 'STOPPING=1'): void {
  if (!process.env['NOTIFY_SOCKET']) return;
  const child = spawn('systemd-notify', [state], { stdio: 'ignore' });
  child.on('error', () => undefined);
  child.unref();
}
