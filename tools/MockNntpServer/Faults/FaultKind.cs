namespace Sluice.Tools.MockNntpServer.Faults;

/// <summary>Kinds of faults. The name in scripts and counters consists of group and kind, as in <c>body.stall</c>.</summary>
public enum FaultKind
{
    /// <summary><c>missing</c>: every command for the article gets 430, at every attempt.</summary>
    Missing,

    /// <summary><c>coverage</c>: the provider does not hold the article (<see cref="MockProvider.Coverage"/>). Not allowed in scripts.</summary>
    Coverage,

    /// <summary><c>corrupt</c>: at every attempt, one decoded byte is wrong under the original CRC. In uuencode, one character is invalid.</summary>
    Corrupt,

    /// <summary><c>connect.refuse</c>: the port is closed for the duration of the fault.</summary>
    ConnectRefuse,

    /// <summary><c>connect.blackhole</c>: connection requests are dropped for the duration of the fault.</summary>
    ConnectBlackhole,

    /// <summary><c>connect.slow</c>: the greeting (with TLS the handshake) is delayed by <c>ms</c>, default 3,000.</summary>
    ConnectSlow,

    /// <summary><c>connect.close</c>: accepted, then closed without a greeting.</summary>
    ConnectClose,

    /// <summary><c>connect.reset</c>: accepted, then reset.</summary>
    ConnectReset,

    /// <summary><c>greeting.400</c>: service not available, then closed.</summary>
    Greeting400,

    /// <summary><c>greeting.502</c>: too many connections, then closed, regardless of the connection limit.</summary>
    Greeting502,

    /// <summary><c>greeting.garbage</c>: an invalid line.</summary>
    GreetingGarbage,

    /// <summary><c>greeting.none</c>: no greeting.</summary>
    GreetingNone,

    /// <summary><c>greeting.banner</c>: 200 followed by 10 KiB of text in one line.</summary>
    GreetingBanner,

    /// <summary><c>auth.480</c>: AUTHINFO itself gets 480.</summary>
    Auth480,

    /// <summary><c>auth.481</c>: correct credentials are rejected.</summary>
    Auth481,

    /// <summary><c>auth.482</c>: AUTHINFO out of sequence.</summary>
    Auth482,

    /// <summary><c>auth.502</c>: too many connections, reported at login, then closed.</summary>
    Auth502,

    /// <summary><c>auth.slow</c>: the login response is delayed by <c>ms</c>, default 5,000.</summary>
    AuthSlow,

    /// <summary><c>auth.then480</c>: the login succeeds, but the next command gets 480 and the login is lost.</summary>
    AuthThen480,

    /// <summary><c>command.423</c>: no article with that number.</summary>
    Command423,

    /// <summary><c>command.430</c>: no such article, for one command. <c>missing</c> affects the article instead.</summary>
    Command430,

    /// <summary><c>command.451</c>: taken down.</summary>
    Command451,

    /// <summary><c>command.500</c>: unknown command.</summary>
    Command500,

    /// <summary><c>command.503</c>: feature not supported.</summary>
    Command503,

    /// <summary><c>command.bare</c>: the status line has a code but no text.</summary>
    CommandBare,

    /// <summary><c>command.lf</c>: the status line ends with LF only.</summary>
    CommandLineFeed,

    /// <summary><c>command.long</c>: a status line of 10 MiB.</summary>
    CommandLong,

    /// <summary><c>command.otherid</c>: another article is sent, under its own id.</summary>
    CommandOtherId,

    /// <summary><c>command.swapped</c>: two responses in the wrong order, if the next command already waits.</summary>
    CommandSwapped,

    /// <summary><c>command.twice</c>: the whole response is sent twice.</summary>
    CommandTwice,

    /// <summary><c>command.slow</c>: the response is delayed by <c>ms</c>, default 3,000 (0: never sent).</summary>
    CommandSlow,

    /// <summary><c>command.400</c>: service discontinued instead of the response, then closed.</summary>
    Command400,

    /// <summary><c>command.480</c>: login required, although the client has logged in.</summary>
    Command480,

    /// <summary><c>command.502</c>: permission denied, then closed.</summary>
    Command502,

    /// <summary><c>command.garbage</c>: an invalid line instead of the response.</summary>
    CommandGarbage,

    /// <summary><c>command.half</c>: half of the status line, then silence.</summary>
    CommandHalf,

    /// <summary><c>command.drip</c>: one byte per <c>ms</c> from the status line on, default 200.</summary>
    CommandDrip,

    /// <summary><c>body.empty</c>: nothing between the status line and the terminator.</summary>
    BodyEmpty,

    /// <summary><c>body.takedown</c>: a plain-text notice instead of the data.</summary>
    BodyTakedown,

    /// <summary><c>body.packets</c>: 16 packets of one byte each, from the offset on.</summary>
    BodyPackets,

    /// <summary><c>body.stall</c>: silence at the offset for <c>ms</c> (0: forever), then closed, or continued with <c>"close":false</c>.</summary>
    BodyStall,

    /// <summary><c>body.trickle</c>: one byte per <c>ms</c> from the offset on, default 1,000.</summary>
    BodyTrickle,

    /// <summary><c>body.fin</c>: closed at the offset.</summary>
    BodyFin,

    /// <summary><c>body.rst</c>: reset at the offset.</summary>
    BodyReset,

    /// <summary><c>body.noterminator</c>: the terminating dot line is missing, the connection stays open.</summary>
    BodyNoTerminator,

    /// <summary><c>body.splitterminator</c>: each byte of the terminator in its own packet.</summary>
    BodySplitTerminator,

    /// <summary><c>body.dotedge</c>: packets end between doubled dots.</summary>
    BodyDotEdge,

    /// <summary><c>body.trailing</c>: a line follows the terminator.</summary>
    BodyTrailing,

    /// <summary><c>body.8bit</c>: NUL bytes are not escaped, and the name is invalid UTF-8.</summary>
    Body8Bit,

    /// <summary><c>yenc.nobegin</c>: no <c>=ybegin</c> line.</summary>
    YencNoBegin,

    /// <summary><c>yenc.noend</c>: no <c>=yend</c> line.</summary>
    YencNoEnd,

    /// <summary><c>yenc.part</c>: the part number is one too high.</summary>
    YencPart,

    /// <summary><c>yenc.begin</c>: <c>begin</c> and <c>end</c> of another position.</summary>
    YencBegin,

    /// <summary><c>yenc.end</c>: <c>end</c> is too high by one.</summary>
    YencEnd,

    /// <summary><c>yenc.total</c>: a wrong <c>total</c>.</summary>
    YencTotal,

    /// <summary><c>yenc.size</c>: a wrong file size.</summary>
    YencSize,

    /// <summary><c>yenc.name</c>: a wrong name.</summary>
    YencName,

    /// <summary><c>yenc.nototal</c>: no <c>total</c>.</summary>
    YencNoTotal,

    /// <summary><c>yenc.pcrc</c>: a wrong CRC over correct bytes.</summary>
    YencPartCrc,

    /// <summary><c>yenc.short</c>: the last data line is missing, the trailer is unchanged.</summary>
    YencShort,

    /// <summary><c>yenc.long</c>: the first data line is repeated, the trailer is unchanged.</summary>
    YencLong,

    /// <summary><c>yenc.escapeedge</c>: packets end between an escape and its byte.</summary>
    YencEscapeEdge,

    /// <summary><c>yenc.uuencode</c>: the same bytes as uuencode.</summary>
    YencUuencode,

    /// <summary><c>yenc.empty</c>: header and trailer without data.</summary>
    YencEmpty,

    /// <summary><c>yenc.nocrc</c>: no checksum in the trailer.</summary>
    YencNoCrc,

    /// <summary><c>yenc.badcrc</c>: a non-numeric checksum.</summary>
    YencBadCrc,

    /// <summary><c>yenc.norange</c>: no <c>=ypart</c> line.</summary>
    YencNoRange,

    /// <summary><c>yenc.badrange</c>: a range that begins after its end.</summary>
    YencBadRange,

    /// <summary><c>tls.stall</c>: silence after the client's first message.</summary>
    TlsStall,

    /// <summary><c>tls.expired</c>: a certificate that expired yesterday.</summary>
    TlsExpired,

    /// <summary><c>tls.wronghost</c>: a certificate for another host.</summary>
    TlsWrongHost,

    /// <summary><c>tls.selfsigned</c>: a self-signed certificate.</summary>
    TlsSelfSigned,

    /// <summary><c>tls.close</c>: closed after the client's first message.</summary>
    TlsClose,

    /// <summary><c>tls.onebyte</c>: one-byte records for the first <c>offset</c> bytes of the connection, default 4,096.</summary>
    TlsOneByte,

    /// <summary><c>policy.idle</c>: 400 and closed after <c>ms</c> without a command, default 60,000.</summary>
    PolicyIdle,

    /// <summary>
    /// <c>policy.cap</c>: at most <c>limit</c> connections, default 1, even if more are already open. Excess ones get 502 at the greeting
    /// or at their next command, and are closed.
    /// </summary>
    PolicyCap,

    /// <summary><c>policy.throttle</c>: each connection is limited to <c>limit</c> bytes per second, default 100,000.</summary>
    PolicyThrottle,

    /// <summary><c>policy.statlie</c>: STAT reports the article as present, but all other commands get 430.</summary>
    PolicyStatLie,

    /// <summary><c>policy.flap</c>: 430 at every odd attempt of an article, present at every even one.</summary>
    PolicyFlap,

    /// <summary><c>policy.down</c>: connections and the port are closed for the duration of the fault.</summary>
    PolicyDown,

    /// <summary><c>policy.nopipelining</c>: a command gets no response if it arrives while another waits on its connection.</summary>
    PolicyNoPipelining,

    /// <summary><c>policy.reorder</c>: of the commands waiting on one connection, the later one is answered first.</summary>
    PolicyReorder,
}
