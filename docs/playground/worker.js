// Runs one scenario in a thread of its own. The page ends the worker to stop a run.

const SAMPLES = 600;

const utf8 = { read: new TextDecoder(), write: new TextEncoder() };

// The library of QUIC imports clocks and random numbers of the browser. A run uses neither, so a call is a bug.
function absent(module) {
  const imports = {};
  for (const { module: library, name } of WebAssembly.Module.imports(module)) {
    imports[library] ??= {};
    imports[library][name] = () => {
      throw new Error(`This is a bug in fadeout: a run calls ${name}`);
    };
  }
  return imports;
}

const output = (it) => utf8.read.decode(new Uint8Array(it.memory.buffer, it.output(), it.output_len()));

// Returns the duration of the run in seconds.
function build(it, request) {
  const bytes = utf8.write.encode(JSON.stringify(request));
  const place = it.input(bytes.length);
  new Uint8Array(it.memory.buffer, place, bytes.length).set(bytes);
  const duration = it.build();
  if (Number.isNaN(duration)) throw new Error(output(it));
  return duration;
}

function simulate(it, request) {
  const duration = build(it, request);
  const times = [];
  const columns = request.observe.map(() => []);
  for (let sample = 0; sample <= SAMPLES; sample += 1) {
    times.push(it.advance((duration * sample) / SAMPLES));
    const values = new Float64Array(it.memory.buffer, it.observe(), columns.length);
    columns.forEach((column, index) => column.push(values[index]));
    if (sample % 20 === 0) postMessage({ progress: sample / SAMPLES });
  }
  if (!it.finish()) throw new Error(output(it));
  return { times, columns, results: JSON.parse(output(it)) };
}

onmessage = async ({ data: { module, ...request } }) => {
  let it;
  try {
    it = (await WebAssembly.instantiate(module, absent(module))).exports;
    const began = performance.now();
    const done = simulate(it, request);
    postMessage({ done, took: (performance.now() - began) / 1e3 });
  } catch (error) {
    // A trap is a bug of fadeout. Its message is the output.
    const isTrap = error instanceof WebAssembly.RuntimeError;
    postMessage({ error: isTrap ? `This is a bug in fadeout: ${output(it)}` : error.message });
  }
};
