# How does kcoord become an image? Its wheel with compiled codecs and its pinned dependencies, on a slim Python; not
# root.
#
#     docker build -t kcoord .
#     docker run -p 127.0.0.1:9092:9092 -v kcoord:/var/lib/kcoord -e KCOORD_ADVERTISE=localhost:9092 kcoord
#
# Settings are KCOORD_... variables (docs/configuration.md), or options behind the image's name: `kcoord serve ...`.
# BUILD_BASE needs pip's venv, a C compiler and Python's headers, BASE the same Python at the same path.

ARG BUILD_BASE=python:3.11
ARG BASE=python:3.11-slim

FROM ${BUILD_BASE} AS build
WORKDIR /build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
COPY requirements/build.lock requirements/image.lock requirements/
RUN python3 -m venv tools \
    && tools/bin/pip install --quiet --require-hashes --requirement requirements/build.lock \
    && python3 -m venv --without-pip /opt/kcoord \
    && tools/bin/pip --python /opt/kcoord/bin/python install --quiet --require-hashes --requirement requirements/image.lock
# Compiling takes minutes, and this layer changes with the codecs only. COMPILED=0 leaves it out.
COPY schemas/__init__.py schemas/compiled.py schemas/
COPY kcoord/__init__.py kcoord/
COPY kcoord/protocol kcoord/protocol
ARG COMPILED=1
RUN [ "$COMPILED" = 0 ] || tools/bin/python -m schemas.compiled compiled
COPY . .
RUN KCOORD_MYPYC=$([ "$COMPILED" = 0 ] || echo compiled) \
        tools/bin/pip wheel --quiet --no-build-isolation --no-deps --wheel-dir wheels . \
    && tools/bin/pip --python /opt/kcoord/bin/python install --quiet --no-deps wheels/*.whl

FROM ${BASE}
# A number is what Kubernetes can see is not root. Written by hand: how a user is added differs between bases.
RUN echo 'kcoord:x:10001:10001:kcoord:/var/lib/kcoord:/usr/sbin/nologin' >>/etc/passwd \
    && echo 'kcoord:x:10001:' >>/etc/group \
    && mkdir --mode=700 /var/lib/kcoord && chown 10001:10001 /var/lib/kcoord
COPY --from=build /opt/kcoord /opt/kcoord
ENV PATH=/opt/kcoord/bin:$PATH PYTHONUNBUFFERED=1 KCOORD_LISTEN=0.0.0.0:9092 KCOORD_DATA_DIR=/var/lib/kcoord
USER 10001:10001
WORKDIR /var/lib/kcoord
VOLUME /var/lib/kcoord
EXPOSE 9092
# Without an answer for two minutes: so long kcoord keeps its members when the cluster behind it is away.
HEALTHCHECK --interval=10s --timeout=10s --retries=12 CMD ["kcoord", "health"]
ENTRYPOINT ["kcoord"]
CMD ["serve"]
