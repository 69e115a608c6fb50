/** Cases about the kind itself: references, extractors, conditions, autogen, exceptions, actions, digests, evidence, messages, what does not compile. */
import { asked, byKey, cronJob, deployment, OFFLINE, PODS, pod, policy, REFUSED, request, right } from "./short.mjs";

const count = (image, names = ["a"]) => `verifyImageSignatures(${image}, [${names.map((n) => `attestors.${n}`)}])`;
const all = (list) => `${list}.all(image, ${count("image")} > 0)`;
const valid = (expression, more = {}) => ({ expression, message: "not signed", ...more });
const settings = (more) => ({ mutateDigest: false, verifyDigest: false, required: true, ...more });
const exception = (spec, { kind = "ImageValidatingPolicy", name = "let" } = {}) => ({
  apiVersion: "policies.kyverno.io/v1",
  kind: "PolicyException",
  metadata: { name, namespace: "team" },
  spec: { policyRefs: [{ name: "signed", kind }], ...spec },
});

export function policyCases({ image, keys }) {
  const [signed, unsigned, second, index] = [
    "team/app:bundle-key",
    "team/app:unsigned",
    "team/base:signed",
    "team/multi:index",
  ].map(image);
  const attestors = [byKey(keys.cosign)];
  const one = (id, spec, object, more) => asked(id, { attestors, ...spec }, object, more);
  const yes = pod(signed.tagged);
  const no = pod(unsigned.tagged);
  const { repository } = signed;
  const path = repository.replace(/^[^/]*\//, "");
  const cases = [];
  const add = (...more) => cases.push(...more);

  // The forms of a reference.
  const forms = {
    tag: signed.tagged,
    digest: signed.pinned,
    both: `${signed.tagged}@${signed.digest}`,
    "both, another tag": `${repository}:anything@${signed.digest}`,
  };
  for (const [form, image] of Object.entries(forms)) {
    add(one(`reference/${form}`, {}, pod(image)));
    add(
      one(
        `reference/${form}, digests verified`,
        { validationConfigurations: settings({ verifyDigest: true }) },
        pod(image),
      ),
    );
  }
  for (const [form, image] of Object.entries({
    "upper case": `localhost:5055/Team/P:v1`,
    empty: "",
    "no name": ":v1",
    "short digest": `${repository}@sha256:1234`,
    "other algorithm": `${repository}@md5:d41d8cd98f00b204e9800998ecf8427e`,
    "space before": ` ${signed.tagged}`,
    "with scheme": `http://${signed.tagged}`,
    "digest of zeros": `${repository}@sha256:${"0".repeat(64)}`,
  }))
    add(one(`reference/${form}`, { matchImageReferences: [{ glob: "**" }] }, pod(image)));

  // What matchImageReferences selects. What it does not select passes without a look.
  const globs = [
    "**",
    "*",
    "localhost:5055/*",
    "localhost:5055/**",
    `localhost:5055/${path}:*`,
    `localhost:5055/${path}`,
    `localhost:????/${path}*`,
    `localhost:505[5-6]/**`,
    `localhost:505[!5]/**`,
    `localhost:505[^5]/**`,
    `localhost:{5055,5056}/**`,
    `{localhost:5055/${path}:*,docker.io/*}`,
    "*.io/**",
    "docker.io/**",
    "LOCALHOST:5055/**",
    "localhost:5055\\/**",
    "local*:*/*",
    "localhost:5055/[a-z]*",
    "",
  ];
  for (const glob of globs) add(one(`glob/${glob || "empty"}`, { matchImageReferences: [{ glob }] }, no));
  add(one("glob/none at all matches everything", { matchImageReferences: [] }, no));
  add(one("glob/absent matches everything", { matchImageReferences: undefined }, no));
  add(one("glob/second of two", { matchImageReferences: [{ glob: "x/*" }, { glob: "localhost:5055/**" }] }, no));
  for (const glob of ["[", "{a,b", "a[z-a]", "\\"])
    add(one(`glob/malformed ${glob}`, { matchImageReferences: [{ glob }] }, no));
  for (const [name, image] of Object.entries({
    "nginx stays as written": "nginx",
    "nginx:1.27 stays as written": "nginx:1.27",
    "library stays as written": "library/nginx",
    "user stays as written": "bitnami/nginx:1",
  })) {
    add(one(`glob/docker.io: ${name}`, { matchImageReferences: [{ glob: "docker.io/**" }] }, pod(image)));
    add(one(`glob/index.docker.io: ${name}`, { matchImageReferences: [{ glob: "index.docker.io/**" }] }, pod(image)));
  }
  add(
    one(
      "glob/nginx as written",
      {
        matchImageReferences: [{ glob: "nginx*" }],
        validations: [valid("size(images.containers) == 1")],
        validationConfigurations: settings({ verifyDigest: true }),
      },
      pod("nginx:1.27"),
    ),
  );
  for (const [name, expression] of Object.entries({
    "starts with": "ref.startsWith('localhost:5055/')",
    "does not": "ref.contains('elsewhere')",
    matches: "ref.matches('^localhost:505[0-9]/')",
    true: "true",
    "not a bool": "ref",
    "unknown name": "image == ''",
    "fails when it runs": "ref.split('/')[9] == 'x'",
    "with the image library": "image(ref).registry() == 'localhost:5055'",
    "no image": "parseImageReference(ref).registry() == 'localhost:5055'",
  }))
    add(one(`expression/${name}`, { matchImageReferences: [{ expression }] }, no));
  add(one("expression/glob and expression", { matchImageReferences: [{ glob: "x/*" }, { expression: "true" }] }, no));
  add(
    one(
      "expression/one of two containers",
      { matchImageReferences: [{ glob: `${signed.tagged}` }], validationConfigurations: settings({ required: false }) },
      pod([signed.tagged, unsigned.tagged]),
    ),
  );
  add(
    one(
      "function/an image beside the references counts nothing",
      { matchImageReferences: [{ glob: "x/*" }], validations: [valid(`${count(`'${signed.tagged}'`)} == 0`)] },
      yes,
    ),
  );

  // Where images come from.
  const every = "(images.containers + images.initContainers + images.ephemeralContainers)";
  add(
    one(
      "images/init container",
      { validations: [valid(all(every))] },
      pod(signed.tagged, { spec: { initContainers: [{ name: "i", image: unsigned.tagged }] } }),
    ),
  );
  add(
    one(
      "images/ephemeral container",
      { validations: [valid(all(every))] },
      pod(signed.tagged, { spec: { ephemeralContainers: [{ name: "e", image: unsigned.tagged }] } }),
    ),
  );
  add(
    one(
      "images/unlooked init container fails required",
      {},
      pod(signed.tagged, { spec: { initContainers: [{ name: "i", image: unsigned.tagged }] } }),
    ),
  );
  add(one("images/no containers", {}, pod([])));
  add(
    one(
      "images/all lists are there",
      {
        validations: [
          valid("images.containers == [] && images.initContainers == [] && images.ephemeralContainers == []"),
        ],
      },
      pod([]),
    ),
  );
  add(one("images/two signed", {}, pod([signed.tagged, second.tagged])));
  add(one("images/second unsigned", {}, pod([signed.tagged, unsigned.tagged])));
  add(one("images/the same twice", {}, pod([signed.tagged, signed.tagged])));
  add({
    ...one("images/the same twice, then another", {}, pod([signed.tagged, signed.tagged, second.tagged])),
    ...right("hangs", "pass", "success"),
  });
  add(one("images/container without image", {}, { ...yes, spec: { containers: [{ name: "c" }] } }));
  add(one("images/image is a number", {}, { ...yes, spec: { containers: [{ name: "c", image: 7 }] } }));
  add(
    one("images/spec is missing", {}, { apiVersion: "v1", kind: "Pod", metadata: { name: "web", namespace: "team" } }),
  );
  const config = (data) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c", namespace: "team" }, data });
  const configs = { resourceRules: [{ ...PODS, resources: ["configmaps"] }] };
  for (const [name, images_, expression, data] of [
    ["own", [{ name: "listed", expression: "[object.data.image]" }], all("images.listed"), { image: signed.tagged }],
    [
      "own, unsigned",
      [{ name: "listed", expression: "[object.data.image]" }],
      all("images.listed"),
      { image: unsigned.tagged },
    ],
    [
      "own, of a list",
      [{ name: "listed", expression: "object.data.images.split(',')" }],
      all("images.listed"),
      { images: `${signed.tagged},${unsigned.tagged}` },
    ],
    ["own, missing field", [{ name: "listed", expression: "[object.data.image]" }], all("images.listed"), {}],
    [
      "own, a string",
      [{ name: "listed", expression: "object.data.image" }],
      all("images.listed"),
      { image: signed.tagged },
    ],
    ["own, of type string", [{ name: "listed", expression: "'x'" }], all("images.listed"), {}],
    ["own, numbers", [{ name: "listed", expression: "[1]" }], all("images.listed"), {}],
    ["own, of type dyn numbers", [{ name: "listed", expression: "dyn([1])" }], all("images.listed"), {}],
    ["own, does not parse", [{ name: "listed", expression: "[" }], all("images.listed"), {}],
    ["own, empty", [{ name: "listed", expression: "[]" }], all("images.listed"), {}],
    ["none, images has no lists", undefined, "!has(images.containers)", {}],
    ["none, missing list", undefined, all("images.containers"), {}],
    [
      "own, two lists",
      [
        { name: "x", expression: "[object.data.x]" },
        { name: "y", expression: "[object.data.y]" },
      ],
      `${all("images.x")} && ${all("images.y")}`,
      { x: signed.tagged, y: second.tagged },
    ],
    [
      "own, same name twice",
      [
        { name: "x", expression: "['a/b']" },
        { name: "x", expression: "[object.data.y]" },
      ],
      all("images.x"),
      { y: signed.tagged },
    ],
    ["own, with a variable", [{ name: "x", expression: "[variables.image]" }], all("images.x"), { y: signed.tagged }],
    ["own, request", [{ name: "x", expression: "[request.object.data.y]" }], all("images.x"), { y: signed.tagged }],
  ])
    add(
      one(
        `extractor/${name}`,
        {
          matchConstraints: configs,
          images: images_,
          validations: [valid(expression)],
          variables: [{ name: "image", expression: "object.data.y" }],
        },
        config(data),
      ),
    );
  add(
    one(
      "extractor/beside a Pod's lists",
      {
        images: [{ name: "extra", expression: `['${signed.tagged}']` }],
        validations: [valid(`${all("images.extra")} && size(images.containers) == 1`)],
        validationConfigurations: settings({ required: false }),
      },
      yes,
    ),
  );
  add(
    one(
      "extractor/in place of a Pod's list",
      { images: [{ name: "containers", expression: `['${signed.tagged}']` }] },
      no,
    ),
  );

  // Requests other than CREATE.
  const update = (object, oldObject) => request(object, { operation: "UPDATE", oldObject });
  const asks = (id, spec, requests, more) => ({ id, policies: [policy({ attestors, ...spec })], requests, ...more });
  const deletes = { matchConstraints: { resourceRules: [{ ...PODS, operations: ["DELETE"] }] } };
  add(asks("request/update", {}, [update(yes, no), update(no, yes)]));
  add(
    asks("request/delete", deletes, [
      request(yes, { operation: "DELETE", object: undefined, oldObject: yes }),
      request(no, { operation: "DELETE", object: undefined, oldObject: no }),
    ]),
  );
  add(asks("request/other operation", {}, [request(no, { operation: "CONNECT" })]));
  add(asks("request/dry run", {}, [request(no, { dryRun: true })]));
  add(
    asks(
      "request/ephemeral containers",
      {
        matchConstraints: { resourceRules: [{ ...PODS, resources: ["pods/ephemeralcontainers"] }] },
        validations: [valid(all("images.ephemeralContainers"))],
      },
      [
        request(pod(signed.tagged, { spec: { ephemeralContainers: [{ name: "e", image: unsigned.tagged }] } }), {
          operation: "UPDATE",
          subResource: "ephemeralcontainers",
          requestSubResource: "ephemeralcontainers",
          oldObject: yes,
        }),
      ],
    ),
  );
  add(
    asks(
      "request/user in a condition",
      { matchConditions: [{ name: "u", expression: "request.userInfo.username != 'alice'" }] },
      [request(no), request(no, { userInfo: { username: "bob" } })],
    ),
  );

  // Variables and conditions.
  add(
    one(
      "variables/list",
      { variables: [{ name: "all", expression: "images.containers" }], validations: [valid(all("variables.all"))] },
      yes,
    ),
  );
  add(
    one(
      "variables/list, unsigned",
      { variables: [{ name: "all", expression: "images.containers" }], validations: [valid(all("variables.all"))] },
      no,
    ),
  );
  add(
    one(
      "variables/counts",
      {
        variables: [{ name: "counts", expression: `images.containers.map(i, ${count("i")})` }],
        validations: [valid("variables.counts.all(n, n == 1)")],
      },
      yes,
    ),
  );
  add(
    one(
      "variables/one of another",
      {
        variables: [
          { name: "first", expression: "images.containers[0]" },
          { name: "n", expression: count("variables.first") },
        ],
        validations: [valid("variables.n == 1")],
      },
      yes,
    ),
  );
  add(
    one(
      "variables/failing, used",
      { variables: [{ name: "x", expression: "object.spec.nothing" }], validations: [valid("variables.x == 1")] },
      yes,
    ),
  );
  add(one("variables/failing, unused", { variables: [{ name: "x", expression: "object.spec.nothing" }] }, yes));
  add(
    one(
      "variables/attestors chosen",
      {
        variables: [{ name: "who", expression: "object.metadata.name == 'web' ? [attestors.a] : []" }],
        validations: [valid("images.containers.all(i, verifyImageSignatures(i, variables.who) > 0)")],
      },
      yes,
    ),
  );
  for (const [name, matchConditions] of Object.entries({
    true: [{ name: "t", expression: "true" }],
    false: [{ name: "f", expression: "false" }],
    "error, then true": [
      { name: "e", expression: "object.spec.nothing == 1" },
      { name: "t", expression: "true" },
    ],
    "error, then false": [
      { name: "e", expression: "object.spec.nothing == 1" },
      { name: "f", expression: "false" },
    ],
    "of the object": [{ name: "o", expression: "object.metadata.name == 'other'" }],
    "of images": [{ name: "i", expression: "size(images.containers) > 0" }],
    "of variables": [{ name: "v", expression: "variables.x" }],
    "of attestors": [{ name: "v", expression: "has(attestors.a)" }],
    "not a bool": [{ name: "n", expression: "'x'" }],
    namespace: [{ name: "n", expression: "namespaceObject.metadata.name == 'team'" }],
  })) {
    add(one(`conditions/${name}`, { matchConditions }, no));
    if (name.startsWith("error"))
      add(one(`conditions/${name}, ignored`, { matchConditions, failurePolicy: "Ignore" }, no));
  }
  const labelled = { apiVersion: "v1", kind: "Namespace", metadata: { name: "team", labels: { trust: "low" } } };
  for (const trust of ["low", "high"])
    add(
      one(
        `match/namespace selector ${trust}`,
        { matchConstraints: { resourceRules: [PODS], namespaceSelector: { matchLabels: { trust } } } },
        no,
        { namespaces: [labelled] },
      ),
    );
  for (const app of ["web", "other"])
    add(
      one(
        `match/object selector ${app}`,
        { matchConstraints: { resourceRules: [PODS], objectSelector: { matchLabels: { app } } } },
        pod(unsigned.tagged, { labels: { app: "web" } }),
      ),
    );
  add(
    one(
      "match/excluded",
      { matchConstraints: { resourceRules: [PODS], excludeResourceRules: [{ ...PODS, resourceNames: ["web"] }] } },
      no,
    ),
  );
  add(
    one("match/another resource", { matchConstraints: { resourceRules: [{ ...PODS, resources: ["services"] }] } }, no),
  );
  add(one("match/constraints absent", { matchConstraints: undefined }, no, REFUSED));
  add(one("match/no rules", { matchConstraints: {} }, no, REFUSED));

  // Autogen.
  for (const [name, autogen] of Object.entries({
    default: undefined,
    none: { podControllers: { controllers: [] } },
    deployments: { podControllers: { controllers: ["deployments"] } },
    "cron jobs": { podControllers: { controllers: ["cronjobs"] } },
  }))
    add({
      id: `autogen/${name}`,
      policies: [policy({ attestors, autogen })],
      resources: [
        deployment(signed.tagged),
        deployment(unsigned.tagged),
        cronJob(signed.tagged),
        cronJob(unsigned.tagged),
      ],
    });
  add(
    one(
      "autogen/object in an expression",
      {
        validations: [valid("object.spec.containers.all(c, c.image.startsWith('localhost:5055/'))")],
        validationConfigurations: settings({ required: false }),
      },
      deployment(signed.tagged),
    ),
  );
  add(
    one(
      "autogen/object in a message",
      { validations: [{ expression: "false", messageExpression: "object.spec.containers[0].name" }] },
      cronJob(signed.tagged),
    ),
  );
  add(
    one(
      "autogen/extractor",
      {
        images: [{ name: "first", expression: "[object.spec.containers[0].image]" }],
        validations: [valid(all("images.first"))],
      },
      deployment(unsigned.tagged),
    ),
  );
  add(
    one(
      "autogen/condition",
      { matchConditions: [{ name: "c", expression: "size(object.spec.containers) == 2" }] },
      deployment(unsigned.tagged),
    ),
  );
  add(
    one(
      "autogen/a policy of Deployments",
      { matchConstraints: { resourceRules: [{ ...PODS, apiGroups: ["apps"], resources: ["deployments"] }] } },
      deployment(unsigned.tagged),
    ),
  );
  add(
    one(
      "autogen/of pods and services: none",
      { matchConstraints: { resourceRules: [{ ...PODS, resources: ["pods", "services"] }] } },
      deployment(unsigned.tagged),
    ),
  );
  add(
    one(
      "autogen/object selector: none",
      { matchConstraints: { resourceRules: [PODS], objectSelector: { matchLabels: { app: "web" } } } },
      deployment(unsigned.tagged),
    ),
  );

  // The kind with a namespace.
  const within = (namespace, more) => policy({ attestors, ...more }, { namespace });
  add({ id: "namespaced/its own namespace", policies: [within("team")], resources: [yes, no] });
  add({ id: "namespaced/another namespace", policies: [within("other")], resources: [no] });
  add({ id: "namespaced/autogen", policies: [within("team")], resources: [deployment(unsigned.tagged)] });
  add({
    id: "namespaced/http is refused",
    policies: [within("team", { variables: [{ name: "x", expression: "http.Get('http://localhost:5059/')" }] })],
    resources: [yes],
  });
  add({
    id: "namespaced/global context is refused",
    policies: [within("team", { variables: [{ name: "x", expression: "globalContext.Get('a', '')" }] })],
    resources: [yes],
  });
  for (const apiVersion of ["policies.kyverno.io/v1alpha1", "policies.kyverno.io/v1beta1"])
    add({ id: `version/${apiVersion}`, policies: [policy({ attestors }, { apiVersion })], resources: [yes, no] });

  // Exceptions.
  const excused = (id, spec, object, more = {}, about = {}) =>
    one(`exception/${id}`, more, object, { exceptions: [exception(spec, about)] });
  add(excused("full", {}, no));
  add(excused("of a signed one", {}, yes));
  add(excused("of another policy", { policyRefs: [{ name: "other", kind: "ImageValidatingPolicy" }] }, no));
  add(excused("of another kind", { policyRefs: [{ name: "signed", kind: "ValidatingPolicy" }] }, no));
  add(excused("condition true", { matchConditions: [{ name: "c", expression: "object.metadata.name == 'web'" }] }, no));
  add(excused("condition false", { matchConditions: [{ name: "c", expression: "object.metadata.name == 'x'" }] }, no));
  add(excused("condition fails", { matchConditions: [{ name: "c", expression: "object.nothing == 1" }] }, no));
  add(
    excused("condition fails, ignored", { matchConditions: [{ name: "c", expression: "object.nothing == 1" }] }, no, {
      failurePolicy: "Ignore",
    }),
  );
  add({
    ...excused("condition does not compile", { matchConditions: [{ name: "c", expression: "nothing" }] }, no),
    ...REFUSED,
  });
  add(excused("images, listed", { images: [unsigned.tagged] }, no));
  add(excused("images, others", { images: ["x/*"] }, no));
  add(excused("values", { allowedValues: ["x"] }, no));
  add(excused("reported as pass", { reportResult: "pass" }, no));
  add(excused("of a Deployment", {}, deployment(unsigned.tagged)));
  add(one("exception/two", {}, no, { exceptions: [exception({ images: ["x"] }), exception({}, { name: "let-all" })] }));
  add({
    id: "exception/namespaced kind",
    policies: [within("team")],
    exceptions: [exception({ policyRefs: [{ name: "signed", kind: "NamespacedImageValidatingPolicy" }] })],
    resources: [no],
  });

  // Actions and failures.
  for (const actions of [["Deny"], ["Audit"], ["Warn"], ["Deny", "Audit"], ["Warn", "Audit"], []]) {
    add(one(`actions/${actions.join("+") || "none"}`, { validationActions: actions }, no));
    if (actions.length < 2)
      add(
        one(
          `actions/${actions.join("+") || "none"}, error`,
          { validationActions: actions, validations: [valid("object.spec.nothing == 1")] },
          yes,
        ),
      );
  }
  for (const failurePolicy of ["Fail", "Ignore"]) {
    add(one(`failure policy/${failurePolicy}, validation fails`, { failurePolicy }, no));
    add(
      one(
        `failure policy/${failurePolicy}, expression fails`,
        { failurePolicy, validations: [valid("object.spec.nothing == 1")] },
        yes,
      ),
    );
    add(one(`failure policy/${failurePolicy}, no image`, { failurePolicy }, pod(`${repository}:absent`)));
  }

  // Messages.
  const said = (id, rule, more) =>
    one(`message/${id}`, { validations: [{ expression: "false", ...rule }], ...more }, yes);
  add(said("none", {}));
  add(said("text", { message: "no" }));
  add(said("expression", { messageExpression: "'image ' + images.containers[0]" }));
  add(said("expression over text", { message: "no", messageExpression: "'not ' + object.metadata.name" }));
  add(said("expression is empty", { message: "no", messageExpression: "''" }));
  add(said("expression fails", { message: "no", messageExpression: "object.spec.nothing" }));
  add(said("expression fails, of type string", { message: "no", messageExpression: "string(object.spec.nothing)" }));
  add(said("expression is a number", { message: "no", messageExpression: "1" }));
  add(said("with a count", { messageExpression: `'signatures: ' + string(${count("images.containers[0]")})` }));
  add(said("with a variable", { messageExpression: "variables.x" }, { variables: [{ name: "x", expression: "'v'" }] }));
  add(one("message/second rule", { validations: [valid("true"), { expression: "1 == 2" }] }, yes));
  add(
    one(
      "message/first of two",
      {
        validations: [
          { expression: "false", message: "first" },
          { expression: "false", message: "second" },
        ],
      },
      yes,
    ),
  );
  add(one("message/no rules", { validations: [] }, yes));
  add(
    one(
      "message/no rules, not required",
      { validations: [], validationConfigurations: settings({ required: false }) },
      yes,
    ),
  );
  add(one("message/fails when it runs", { validations: [valid("images.containers[7] == ''")] }, yes));
  add(one("message/dyn that is no bool", { validations: [valid("dyn('x')")] }, yes));
  add(one("message/object is no bool", { validations: [valid("object.metadata.name")] }, yes));

  // Audit annotations.
  const noted = (id, valueExpression, object, more) =>
    one(`annotations/${id}`, { auditAnnotations: [{ key: "seen", valueExpression }], ...more }, object);
  add(noted("pass", "'n=' + string(size(images.containers))", yes));
  add(noted("fail", "'n=' + string(size(images.containers))", no));
  add(noted("empty", "''", yes));
  add(noted("null", "null", yes));
  add(noted("fails after a pass", "string(object.spec.nothing)", yes));
  add(noted("fails after a fail", "string(object.spec.nothing)", no));
  add(noted("a number", "1", yes));
  add(noted("not required's", "'x'", yes, { validations: [valid("true")] }));

  // Digests, and evidence.
  for (const required of [true, false, undefined]) {
    const validationConfigurations = {
      mutateDigest: false,
      verifyDigest: false,
      ...(required !== undefined && { required }),
    };
    const about = required === undefined ? "absent" : String(required);
    add(one(`required/${about}, nothing looked at`, { validationConfigurations, validations: [valid("true")] }, yes));
    add(
      one(
        `required/${about}, looked at and unsigned`,
        { validationConfigurations, validations: [valid(`images.containers.all(i, ${count("i")} >= 0)`)] },
        no,
      ),
    );
    add(
      one(
        `required/${about}, looked at and signed`,
        { validationConfigurations, validations: [valid(`images.containers.all(i, ${count("i")} >= 0)`)] },
        yes,
      ),
    );
    add(
      one(
        `required/${about}, no attestors`,
        {
          validationConfigurations,
          validations: [valid("images.containers.all(i, verifyImageSignatures(i, []) == 0)")],
        },
        yes,
      ),
    );
  }
  const looks = policy({ attestors }, { name: "looks" });
  const wants = (name) => policy({ attestors, validations: [{ expression: "true" }] }, { name });
  add({ id: "required/evidence of another policy before", policies: [looks, wants("wants")], resources: [yes] });
  add({ id: "required/evidence of another policy after", policies: [wants("earlier"), looks], resources: [yes] });
  add({
    id: "required/the other found nothing",
    policies: [
      policy(
        {
          attestors,
          validationConfigurations: settings({ required: false }),
          validations: [valid(`images.containers.all(i, ${count("i")} == 0)`)],
        },
        { name: "looks" },
      ),
      wants("wants"),
    ],
    resources: [no],
  });
  add({
    id: "required/evidence of a denied policy",
    policies: [
      policy(
        { attestors, validations: [{ expression: `images.containers.all(i, ${count("i")} > 3)`, message: "four" }] },
        { name: "looks" },
      ),
      wants("wants"),
    ],
    resources: [yes],
  });
  add({
    id: "required/evidence of another form of the name",
    policies: [
      policy(
        {
          attestors,
          validationConfigurations: settings({ required: false }),
          validations: [valid(`${count(`'${signed.pinned}'`)} == 1`)],
        },
        { name: "looks" },
      ),
      wants("wants"),
    ],
    resources: [yes],
  });
  add({
    id: "two policies/one fails",
    policies: [looks, policy({ attestors: [byKey(keys.other)] }, { name: "strict" })],
    resources: [yes, no],
  });
  add({
    id: "two policies/of two images",
    policies: [
      policy({ attestors, matchImageReferences: [{ glob: signed.tagged }] }, { name: "one" }),
      policy(
        { attestors, matchImageReferences: [{ glob: second.tagged }], validations: [valid(all("images.containers"))] },
        { name: "two" },
      ),
    ],
    resources: [pod([signed.tagged, second.tagged])],
    ...right("hangs", "pass", "success"),
  });
  add(one("digest/verified and absent", { validationConfigurations: {} }, yes));
  add(
    one(
      "digest/verified, of two the second",
      { validationConfigurations: settings({ verifyDigest: true }) },
      pod([signed.pinned, second.tagged]),
    ),
  );
  add(
    one(
      "digest/not of what does not match",
      {
        matchImageReferences: [{ glob: "**@sha256:*" }],
        validationConfigurations: settings({ verifyDigest: true, required: false }),
      },
      pod([signed.pinned, unsigned.tagged]),
    ),
  );

  // Pinning.
  const pinned = (id, spec, object, more) =>
    one(`pin/${id}`, { validationConfigurations: {}, ...spec }, object, { pin: true, ...more });
  add(pinned("tag", {}, yes));
  add(pinned("digest", {}, pod(signed.pinned)));
  add(pinned("tag and digest", {}, pod(forms.both)));
  add(pinned("unsigned", {}, no));
  add(
    pinned(
      "three sorts of containers",
      { validations: [valid(all(every))] },
      pod([signed.tagged, second.tagged], {
        spec: {
          initContainers: [{ name: "i", image: index.tagged }],
          ephemeralContainers: [{ name: "e", image: image("team/app:legacy-key").tagged }],
        },
      }),
    ),
  );
  add(
    pinned(
      "not what does not match",
      { matchImageReferences: [{ glob: `${signed.tagged}*` }] },
      pod([signed.tagged, unsigned.tagged]),
    ),
  );
  add(pinned("switched off", { validationConfigurations: { mutateDigest: false } }, yes));
  add(pinned("not verified", { validationConfigurations: { verifyDigest: false } }, yes));
  add(pinned("no image", {}, pod(`${repository}:absent`)));
  add(pinned("no image beside one", {}, pod([signed.tagged, `${repository}:absent`])));
  add(pinned("no image, only warned", { validationActions: ["Warn"] }, pod(`${repository}:absent`)));
  add(pinned("Deployment", {}, deployment(signed.tagged)));
  add(pinned("cron job", {}, cronJob(signed.tagged)));
  add(
    pinned(
      "own extractor",
      {
        matchConstraints: configs,
        images: [{ name: "x", expression: "[object.data.y]" }],
        validations: [valid(all("images.x"))],
      },
      config({ y: signed.tagged }),
    ),
  );
  add(pinned("exception", {}, no, { exceptions: [exception({})] }));
  add(pinned("exception of images", {}, yes, { exceptions: [exception({ images: ["x"] })] }));
  add(pinned("condition false", { matchConditions: [{ name: "f", expression: "false" }] }, yes));
  add(pinned("condition fails", { matchConditions: [{ name: "e", expression: "object.nothing == 1" }] }, yes));
  add(pinned("index", {}, pod(index.tagged)));

  // What images are made of: members have the names of Go's fields, as in Kyverno, where those of JSON are unknown.
  const data = (id, expression, more = {}, object = yes) =>
    one(
      `image data/${id}`,
      { validations: [valid(expression)], validationConfigurations: settings({ required: false }), ...more },
      object,
    );
  const own = "getImageData(images.containers[0])";
  add(data("digest", `${own}.Digest == '${signed.digest}'`));
  add(data("resolved", `${own}.ResolvedImage == '${signed.tagged}@${signed.digest}'`));
  add(
    data(
      "names",
      `[${own}].all(d, d.Image == '${signed.tagged}' && d.Registry == 'localhost:5055' && d.Repository == '${path}' && d.Tag == '${signed.tag}' && d.Identifier == d.Tag)`,
    ),
  );
  add(
    data(
      "names by digest",
      `[${own}].all(d, d.Image == '${signed.pinned}' && d.ResolvedImage == d.Image && d.Tag == '' && d.Identifier == d.Digest)`,
      {},
      pod(signed.pinned),
    ),
  );
  add(
    data(
      "configuration",
      `${own}.ConfigData.Architecture == 'amd64' && ${own}.ConfigData.OS == 'linux' && ${own}.ConfigData.Config.User == '65532'`,
    ),
  );
  add(data("label", `${own}.ConfigData.Config.Labels['org.opencontainers.image.title'] != ''`));
  add(data("label that is missing", `${own}.ConfigData.Config.Labels['x'] != ''`));
  add(data("manifest", `${own}.Manifest.SchemaVersion == 2 && size(${own}.Manifest.Layers) == 1`));
  add(data("unknown member", `${own}.Nothing == 1`));
  for (const name of ["digest", "resolvedImage", "config", "manifest"])
    add({
      ...data(`member by its name in JSON, ${name}`, `has(${own}.${name})`),
      ...right("unverified", "pass", "success"),
    });
  add(data("in JSON", `json.unmarshal(json.marshal(${own})).digest == '${signed.digest}'`));
  add(data("index", `has(${own}.ImageIndex)`, {}, pod(index.tagged)));
  add(
    data(
      "of an index",
      `${own}.Digest == '${index.digest}' && ${own}.ConfigData.Architecture == 'amd64'`,
      {},
      pod(index.tagged),
    ),
  );
  add(data("absent", `getImageData('${repository}:absent').Digest == ''`));
  add(data("another image", `getImageData('${second.tagged}').Digest == '${second.digest}'`));
  add({
    ...data("another image after the own", `${own}.Digest != getImageData('${second.tagged}').Digest`),
    ...right("hangs", "pass", "success"),
  });
  add(
    data("beside the references", `getImageData('${second.tagged}').Digest == '${second.digest}'`, {
      matchImageReferences: [{ glob: "x/*" }],
    }),
  );
  add(data("by the library", `image('${signed.tagged}').tag() == '${signed.tag}'`));

  // Payloads that are no Kubernetes objects.
  const json = (id, spec, payload, more = {}) => ({
    id: `json/${id}`,
    policies: [
      policy({
        attestors,
        evaluation: { mode: "JSON" },
        matchConstraints: undefined,
        images: [{ name: "listed", expression: "[object.image]" }],
        validations: [valid(all("images.listed"))],
        ...spec,
      }),
    ],
    payload,
    ...more,
  });
  add(json("signed", {}, { image: signed.tagged }));
  add(json("unsigned", {}, { image: unsigned.tagged }));
  add(
    json(
      "message",
      { validations: [{ expression: "false", messageExpression: "object.image" }] },
      { image: signed.tagged },
    ),
  );
  add(json("field is missing", {}, {}, right("hangs", "error")));
  add(json("nothing is looked at", { validations: [valid("true")] }, { image: signed.tagged }));
  add(json("request is unknown", { validations: [valid("request.operation == 'CREATE'")] }, { image: signed.tagged }));
  add(
    json(
      "variables are unknown",
      { variables: [{ name: "x", expression: "object.image" }], validations: [valid("variables.x == ''")] },
      { image: signed.tagged },
    ),
  );
  add(
    json(
      "condition false",
      { matchConditions: [{ name: "c", expression: "object.image == ''" }] },
      { image: signed.tagged },
      right("hangs", "none"),
    ),
  );
  add(json("no digest", { validationConfigurations: {} }, { image: signed.tagged }));
  add({
    id: "json/a policy of Kubernetes",
    policies: [policy({ attestors })],
    payload: { image: signed.tagged },
    ...right("weaker", "error"),
  });

  // What does not compile.
  const refused = (id, spec) => one(`refused/${id}`, spec, yes);
  add(refused("syntax", { validations: [valid("images.containers.all(")] }));
  add(refused("unknown name", { validations: [valid("image == ''")] }));
  add(
    refused("unknown attestor", {
      validations: [valid("verifyImageSignatures(images.containers[0], [attestors.b]) > 0")],
    }),
  );
  add(refused("attestor as text", { validations: [valid("verifyImageSignatures(images.containers[0], ['a']) > 0")] }));
  add(
    refused("attestors are no list", {
      validations: [valid("verifyImageSignatures(images.containers[0], attestors.a) > 0")],
    }),
  );
  add(refused("one argument", { validations: [valid("verifyImageSignatures(images.containers[0]) > 0")] }));
  add(refused("a number", { validations: [valid("verifyImageSignatures(1, [attestors.a]) > 0")] }));
  add(refused("count is no bool", { validations: [valid(count("images.containers[0]"))] }));
  add(refused("variable", { variables: [{ name: "x", expression: "nothing" }] }));
  add(
    refused("variable of a later one", {
      variables: [
        { name: "x", expression: "variables.y" },
        { name: "y", expression: "1" },
      ],
    }),
  );
  add(refused("annotation", { auditAnnotations: [{ key: "k", valueExpression: "nothing" }] }));
  add(refused("message expression", { validations: [{ expression: "true", messageExpression: "nothing" }] }));
  add(
    refused("attestor expression", {
      attestors: [{ name: "a", cosign: { key: { expression: "nothing" }, ctlog: OFFLINE } }],
    }),
  );
  add(refused("all of it", { validations: [valid("nothing"), valid("images.nothing.all(")] }));
  return cases;
}
