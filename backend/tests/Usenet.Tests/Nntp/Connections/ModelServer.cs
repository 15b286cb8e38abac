using Sluice.Testing;
using Sluice.Usenet.Nntp;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>
/// A simulated news server without sockets. On each dial and command, it may be slow, miss an article, stay silent, close or refuse, at random.
/// Single-threaded; every delay is a timer of <paramref name="clock"/>.
/// </summary>
/// <param name="clock">The clock of the model.</param>
/// <param name="dice">The random numbers of the model.</param>
/// <param name="happened">Called after each event that the engine must notice.</param>
internal sealed class ModelServer(ManualTimeProvider clock, Random dice, Action<ModelServer> happened)
{
    // The limits for random outcomes of a dial or command are in percent.
    private const int Percent = 100;

    private readonly ManualTimeProvider _clock = clock;
    private readonly Random _dice = dice;
    private readonly Action<ModelServer> _happened = happened;

    /// <summary>Most connections that it accepts at a time.</summary>
    public int Takes { get; set; }

    /// <summary>Whether it works without faults.</summary>
    public bool IsSound { get; set; }

    /// <summary>Connections that count against its limit.</summary>
    public List<ModelConnection> Counted { get; } = [];

    /// <summary>When it last answered a fetch or a command before one, in ticks of the clock.</summary>
    public long HeardAt { get; private set; }

    /// <summary>Number of connections that are open on both sides and have no outstanding reply.</summary>
    public int Idle => Counted.Count(connection => connection is { IsOpen: true, Owes: 0 });

    /// <summary>Accepts a dial after a delay.</summary>
    /// <exception cref="NntpException">It refuses the dial or does not answer in time.</exception>
    public async Task<ModelConnection> DialAsync(CancellationToken cancellationToken)
    {
        var fate = IsSound ? Percent : _dice.Next(Percent);
        await Task.Delay(fate < 4 ? TimeSpan.FromSeconds(4) : Milliseconds(_dice.Next(10, 200)), _clock, cancellationToken);
        _happened(this);
        if (fate < 4)
            throw new NntpException(NntpFault.ConnectTimeout, "The model does not answer.");
        if (fate < 8)
            throw new NntpException(NntpFault.ConnectFailed, "The model refuses.");
        if (Counted.Count >= Takes)
            throw new NntpException(NntpFault.TooManyConnections, "The model has enough.");
        var connection = new ModelConnection(this);
        Counted.Add(connection);
        return connection;
    }

    private static TimeSpan Milliseconds(int count) => TimeSpan.FromMilliseconds(count);

    private void After(TimeSpan delay, Action act) => _clock.CreateTimer(static state => ((Action)state!)(), act, delay, Timeout.InfiniteTimeSpan);

    private void Gone(ModelConnection connection)
    {
        Counted.Remove(connection);
        _happened(this);
    }

    /// <summary>One connection: the server's side, and the stream of the client's side.</summary>
    internal sealed class ModelConnection(ModelServer server) : ModelStream
    {
        private readonly TaskCompletionSource _noticed = new();
        private byte[] _arrived = new byte[128];
        private int _from;
        private int _to;
        private bool _isClosed;
        private bool _isLeft;
        private bool _isSilent;
        private bool _hasQuit;
        private long _freeAt;

        /// <summary>Number of commands without a complete reply.</summary>
        public int Owes { get; private set; }

        /// <summary>Whether neither side has closed it.</summary>
        public bool IsOpen => !_isClosed && !_isLeft && !_hasQuit;

        /// <summary>Closes the connection by the server, even with outstanding replies.</summary>
        public void EndByServer()
        {
            if (_isClosed)
                return;
            _isClosed = true;
            server.Gone(this);
            EndRead();
        }

        /// <summary>Accepts commands and answers them one after the other.</summary>
        public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
        {
            if (_isClosed || _isLeft)
                throw new IOException("Closed.");
            for (var rest = buffer.Span; !rest.IsEmpty;)
            {
                var length = rest.IndexOf("\r\n"u8) + 2;
                Take(rest[..length]);
                rest = rest[length..];
            }

            return ValueTask.CompletedTask;
        }

        /// <summary>Closes the client's side; completes once the server has noticed.</summary>
        public override async ValueTask DisposeAsync()
        {
            await base.DisposeAsync();
            await _noticed.Task;
        }

        protected override void Dispose(bool disposing)
        {
            base.Dispose(disposing);
            if (_isLeft)
                return;
            _isLeft = true;
            server._happened(server);
            if (_isClosed)
                _noticed.SetResult();
            else
                server.After(Milliseconds(server._dice.Next(1, 300)), Notice);
        }

        protected override int? Take(Memory<byte> buffer)
        {
            if (!_isClosed && _from == _to)
                return null;
            var count = Math.Min(_to - _from, buffer.Length);
            _arrived.AsSpan(_from, count).CopyTo(buffer.Span);
            _from += count;
            return count;
        }

        private void Notice()
        {
            if (!_isClosed)
            {
                _isClosed = true;
                server.Gone(this);
            }

            _noticed.SetResult();
        }

        private void Take(ReadOnlySpan<byte> command)
        {
            if (command.StartsWith("QUIT"u8))
            {
                _hasQuit = true;
                server.After(Milliseconds(server._dice.Next(1, 50)), EndByServer);
                return;
            }

            Owes++;
            var fate = server.IsSound ? Percent : server._dice.Next(Percent);
            _isSilent |= fate < 2;
            if (_isSilent)
                return;
            if (fate < 4)
            {
                server.After(Milliseconds(server._dice.Next(1, 100)), EndByServer);
                return;
            }

            var late = fate < 9 ? Milliseconds(server._dice.Next(300, 7_000)) : TimeSpan.Zero;
            if (!command.StartsWith("BODY"u8))
                Answer(late, command.StartsWith("DATE"u8) ? "111 20260103100000\r\n"u8 : [.. "223 0 "u8, .. command[5..]], isEnd: true);
            else if (fate < 14)
                Answer(late, "430 no\r\n"u8, isEnd: true);
            else
            {
                Answer(late, [.. "222 0 "u8, .. command[5..], .. "half\r\n"u8], isEnd: false);
                Answer(fate < 17 ? Milliseconds(server._dice.Next(300, 7_000)) : TimeSpan.Zero, "half\r\n.\r\n"u8, isEnd: true);
            }
        }

        private void Answer(TimeSpan late, ReadOnlySpan<byte> line, bool isEnd)
        {
            var (bytes, isFetch, isBody) = (line.ToArray(), !line.StartsWith("111"u8), !line.StartsWith("223"u8));
            _freeAt = Math.Max(_freeAt, server._clock.GetTimestamp()) + late.Ticks + (server._dice.Next(5, 60) * TimeSpan.TicksPerMillisecond);
            server.After(TimeSpan.FromTicks(_freeAt - server._clock.GetTimestamp()), () => Arrive(bytes, isEnd, isFetch, isBody));
        }

        private void Arrive(byte[] bytes, bool isEnd, bool isFetch, bool isBody)
        {
            if (_isClosed)
                return;
            if (isEnd)
                Owes--;
            if (_isLeft)
                return;
            (_from, _to) = (_from == _to ? 0 : _from, _from == _to ? 0 : _to);
            if (_arrived.Length - _to < bytes.Length)
                Array.Resize(ref _arrived, _to + bytes.Length);
            bytes.CopyTo(_arrived, _to);
            _to += bytes.Length;
            if (isFetch || Owes > 0)
                server.HeardAt = server._clock.GetTimestamp();
            if (isEnd && isFetch && (isBody || Owes == 0))
                server._happened(server);
            EndRead();
        }
    }
}
