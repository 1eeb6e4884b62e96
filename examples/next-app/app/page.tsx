'use client';

import { Can, useDoorward } from '@doorward/react';
import { useState } from 'react';

export default function Page() {
  const { fetch, signOut } = useDoorward();
  const [text, setText] = useState('');
  const read = async (id: string) => setText(await (await fetch(`/api/orders/${id}`)).text());
  return (
    <main>
      <h1>Orders</h1>
      <Can
        permission="order:read"
        context={{ resource: { region: 'eu' } }}
        fallback={<p>You may read no orders.</p>}
      >
        <button onClick={() => void read('1')}>Order 1</button>
        <button onClick={() => void read('2')}>Order 2</button>
      </Can>
      <output>{text}</output>
      <button onClick={() => void signOut()}>Sign out</button>
    </main>
  );
}
