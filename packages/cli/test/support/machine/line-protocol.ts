import type { Socket } from 'node:net';

/** Calls `answer` for each line and sends what it returns. */
export function byLine(socket: Socket, answer: (line: string) => string | undefined): void {
  let rest = '';
  socket.setEncoding('utf8');
  socket.on('error', () => undefined);
  socket.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\r\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const reply = answer(line);
      if (reply !== undefined) socket.write(`${reply}\r\n`);
    }
  });
}

const PLAIN = Buffer.from('\0me\0right').toString('base64');
/** An SMTP server that accepts the user `me` with the password `right`. */
export const speakSmtp = (socket: Socket): void => {
  socket.write('220 mail.test\r\n');
  byLine(socket, (line) => {
    if (line.startsWith('EHLO')) return '250-mail.test\r\n250 AUTH PLAIN';
    if (line.startsWith('AUTH PLAIN')) return line.endsWith(PLAIN) ? '235 ok' : '535 wrong password';
    if (line === 'QUIT') return '221 bye';
    return '502 not here';
  });
};
