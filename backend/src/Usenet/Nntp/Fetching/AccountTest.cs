using System.Buffers;
using System.IO.Pipelines;
using System.Net.Sockets;
using Sluice.Usenet.Nntp.Connections;
using Sluice.Usenet.Nntp.Wire;
using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Nntp.Fetching;

/// <summary>
/// Opens connections to test how an account responds, and closes them again. If the account is in use, the test takes free slots from its pool, so that test
/// and pool together stay within the promised connections.
/// </summary>
/// <remarks>Thread-safe. <c>_gate</c> guards the open connections, which Dispose closes, with QUIT if possible. No call may run during Dispose.</remarks>
public sealed class AccountTest : IAsyncDisposable
{
    // How long idle connections may take to close. Servers usually close within one round trip after QUIT.
    private static readonly TimeSpan CloseIdleTimeout = TimeSpan.FromSeconds(2);

    private readonly Lock _gate = new();
    private readonly HashSet<TestConnection> _open = [];
    private readonly NntpConnectionPool? _pool;
    private readonly SharedResources _shared;
    private readonly INameResolver _names;
    private readonly NntpOptions _options;
    private readonly Func<Task>? _release;

    internal AccountTest(NntpConnectionPool? pool, SharedResources shared, INameResolver names, NntpOptions options, Func<Task>? release) =>
        (_pool, _shared, _names, _options, _release) = (pool, shared, names, options, release);

    /// <summary>Number of open connections of the account, without those of the test.</summary>
    public int Beside => _pool?.Counts.Open ?? 0;

    /// <summary>Closes the account's idle connections, to free slots for the test.</summary>
    public async Task MakeRoomAsync(CancellationToken cancellationToken)
    {
        if (_pool is null)
            return;
        try
        {
            await Task.WhenAll(_pool.CloseIdle()).WaitAsync(CloseIdleTimeout, _shared.Time, cancellationToken);
        }
        catch (TimeoutException)
        {
            // The server has not closed the connections in time and still counts them.
        }
    }

    /// <summary>Opens a connection and logs in.</summary>
    /// <param name="provider">Host and port of the account; TLS and login may differ.</param>
    /// <param name="entering">Called on any thread when a step begins; may be null.</param>
    /// <returns>A connection that the caller or the test disposes. Null if the account has no free slot.</returns>
    /// <exception cref="NntpException">The server cannot be reached or refuses the login.</exception>
    public async Task<TestConnection?> OpenAsync(ProviderOptions provider, Action<DialStep>? entering, CancellationToken cancellationToken)
    {
        IDialPlaces? places = _pool;
        if (places?.TryTake() == false)
            return null;
        try
        {
            var account = (object?)_pool ?? this;
            await _shared.Handshakes.BeginAsync(account, _options.LoginTimeout, cancellationToken);
            try
            {
                var traffic = _pool?.Traffic ?? new ProviderTraffic(_shared.Meter);
                var transport = await new NntpDialer(provider, _options, _shared.Meter, _shared.Time, _names, places, family: null, entering, beat: null, traffic)
                    .DialAsync(cancellationToken);
                var connection = new TestConnection(transport, _pool, traffic, _shared, _options, Closed);
                lock (_gate)
                    _open.Add(connection);
                return connection;
            }
            finally
            {
                _shared.Handshakes.End(account);
            }
        }
        catch
        {
            places?.Return();
            throw;
        }
    }

    public async ValueTask DisposeAsync()
    {
        TestConnection[] open;
        lock (_gate)
            open = [.. _open];
        await Task.WhenAll(open.Select(connection => connection.DisposeAsync().AsTask()));
        if (_release is not null)
            await _release();
    }

    private void Closed(TestConnection connection)
    {
        lock (_gate)
            _open.Remove(connection);
    }
}

/// <summary>A logged-in connection of an <see cref="AccountTest"/>.</summary>
/// <remarks>For one caller at a time. After a failed or canceled call the connection can only be disposed.</remarks>
public sealed class TestConnection : IAsyncDisposable
{
    private static readonly TimeSpan QuitTimeout = TimeSpan.FromSeconds(2);

    private readonly NntpTransport _transport;
    private readonly NntpConnectionPool? _pool;
    private readonly ProviderTraffic _traffic;
    private readonly SharedResources _shared;
    private readonly NntpOptions _options;
    private readonly Action<TestConnection> _closed;
    private readonly ArrayBufferWriter<byte> _command = new(512);
    private int _owed;
    private bool _isClosed;

    // traffic: counts the received bytes. If the account is not in use, they are not part of any provider's usage.
    internal TestConnection(
        NntpTransport transport, NntpConnectionPool? pool, ProviderTraffic traffic, SharedResources shared, NntpOptions options, Action<TestConnection> closed) =>
        (_transport, _pool, _traffic, _shared, _options, _closed) = (transport, pool, traffic, shared, options, closed);

    public int Owed => _owed;

    /// <summary>Whether the server requires a login.</summary>
    /// <exception cref="NntpException">The connection broke, or no reply arrived in time.</exception>
    public async Task<bool> WantsLoginAsync(CancellationToken cancellationToken)
    {
        using var deadline = new CancellationTokenSource(_options.LoginTimeout, _shared.Time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(deadline.Token, cancellationToken);
        try
        {
            // No server has this article, so any other reply means that no login is needed.
            await SendAsync(output => NntpCommandWriter.WriteStat(output, MessageId.Parse("login@sluice.invalid")), either.Token);
            return (await ReadLineAsync(either.Token)).Code == NntpResponseCode.AuthenticationRequired;
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            throw new NntpException(NntpFault.ConnectTimeout, "The server did not answer in time.");
        }
    }

    /// <summary>Selects a group and returns its lowest and highest article number; null if the group is missing or empty.</summary>
    /// <exception cref="NntpException">The connection broke.</exception>
    public async Task<(long First, long Last)?> SelectAsync(string group, CancellationToken cancellationToken)
    {
        await SendAsync(output => NntpCommandWriter.WriteGroup(output, group), cancellationToken);
        var (code, text) = await ReadLineAsync(cancellationToken);

        // 211 number low high group (RFC 3977 section 6.1.1.1).
        return code == NntpResponseCode.Group && text.Split(' ', StringSplitOptions.RemoveEmptyEntries) is [_, var low, var high, ..]
            && ulong.TryParse(low, out var first) && ulong.TryParse(high, out var last) && last >= first && last > 0 && last <= long.MaxValue
            ? ((long)first, (long)last)
            : null;
    }

    /// <summary>Requests a body by message-id. <see cref="ReceiveAsync"/> receives it.</summary>
    public Task AskAsync(MessageId id, CancellationToken cancellationToken) =>
        SendAsync(output => NntpCommandWriter.WriteBody(output, id), cancellationToken);

    /// <summary>Requests a body by its number in the selected group.</summary>
    public Task AskAsync(long number, CancellationToken cancellationToken) =>
        SendAsync(output => NntpCommandWriter.WriteBody(output, number), cancellationToken);

    /// <summary>Receives the next requested body, in request order.</summary>
    /// <returns>False if the server does not have the article.</returns>
    /// <exception cref="NntpException">The connection broke, or the reply is not a body.</exception>
    public async Task<bool> ReceiveAsync(IArticleSink sink, CancellationToken cancellationToken)
    {
        var (code, text) = await ReadLineAsync(cancellationToken, endsReply: false);
        if (code != NntpResponseCode.Body)
        {
            _owed--;
            return NntpResponseCode.IsMiss(code) ? false : throw new NntpException(NntpFault.UnexpectedCode, $"The server refused a command: {code} {text}");
        }

        sink.Start(0);
        long received = 0;
        while (true)
        {
            var result = await ReadAsync(cancellationToken);
            var (isWhole, used) = Give(result.Buffer, sink);
            received += used;
            Count(used);
            _transport.Input.AdvanceTo(result.Buffer.GetPosition(used));
            if (isWhole)
            {
                _owed--;
                return true;
            }

            if (result.IsCompleted)
                throw new NntpException(NntpFault.ConnectionClosed, "The server closed the connection.");
            if (received > _options.MaxArticleBytes)
                throw new NntpException(NntpFault.ArticleTooLarge, "The server sent more than an article may hold.");
        }
    }

    /// <summary>Closes the connection, with QUIT if no reply is outstanding.</summary>
    public async ValueTask DisposeAsync()
    {
        if (_isClosed)
            return;
        _isClosed = true;
        if (_owed == 0 && await TryQuitAsync())
        {
            await _transport.DisposeAsync();
            _shared.Meter.SocketClosed();
        }
        else
        {
            await GiveUpAsync();
        }

        ((IDialPlaces?)_pool)?.Return();
        _closed(this);
    }

    private async Task<bool> TryQuitAsync()
    {
        using var deadline = new CancellationTokenSource(QuitTimeout, _shared.Time);
        try
        {
            await SendAsync(NntpCommandWriter.WriteQuit, deadline.Token);
            _transport.FinishSending();
            while (true)
            {
                var result = await _transport.Input.ReadAsync(deadline.Token);
                _traffic.Received(Payer.Other, result.Buffer.Length);
                _transport.Input.AdvanceTo(result.Buffer.End);
                if (result.IsCompleted)
                    return true;
            }
        }
        catch (Exception error) when (error is IOException or SocketException or ObjectDisposedException or OperationCanceledException)
        {
            return false;
        }
    }

    /// <summary>Closes the connection in the middle of a reply. If the account is in use, the socket keeps its slot until the server notices.</summary>
    private async Task GiveUpAsync()
    {
        if (_pool is IDialPlaces places)
        {
            await _transport.ReleaseAsync();
            _transport.Socket.StopSending();
            places.Leave(_transport.Socket);
            return;
        }

        _transport.Abort();
        await _transport.DisposeAsync();
        _shared.Meter.SocketClosed();
    }

    private async Task SendAsync(Action<IBufferWriter<byte>> write, CancellationToken cancellationToken)
    {
        _command.ResetWrittenCount();
        write(_command);
        _owed++;
        _shared.Meter.CommandSent();
        try
        {
            await _transport.Stream.WriteAsync(_command.WrittenMemory, cancellationToken);
        }
        catch (IOException error)
        {
            throw Lost(error);
        }
    }

    private async Task<(int Code, string Text)> ReadLineAsync(CancellationToken cancellationToken, bool endsReply = true)
    {
        while (true)
        {
            var result = await ReadAsync(cancellationToken);
            var buffer = result.Buffer;
            if (NntpResponseReader.TryRead(ref buffer, _options.MaxLineBytes, out var response))
            {
                var line = (response.Code, response.PrintableText());
                Count(result.Buffer.Length - buffer.Length);
                _transport.Input.AdvanceTo(buffer.Start);
                _owed -= endsReply ? 1 : 0;
                return line;
            }

            _transport.Input.AdvanceTo(buffer.Start, buffer.End);
            if (result.IsCompleted)
                throw new NntpException(NntpFault.ConnectionClosed, "The server closed the connection.");
        }
    }

    private async ValueTask<ReadResult> ReadAsync(CancellationToken cancellationToken)
    {
        try
        {
            return await _transport.Input.ReadAsync(cancellationToken);
        }
        catch (IOException error)
        {
            throw Lost(error);
        }
    }

    private static (bool IsWhole, long Used) Give(in ReadOnlySequence<byte> buffer, IArticleSink sink)
    {
        long used = 0;
        foreach (var stretch in buffer)
        {
            var isWhole = sink.Write(stretch.Span, out var consumed);
            used += consumed;
            if (isWhole)
                return (true, used);
        }

        return (false, used);
    }

    private void Count(long bytes)
    {
        _traffic.Received(Payer.Other, bytes);
        _shared.Bandwidth.Count(bytes);
    }

    private static NntpException Lost(IOException error) => new(NntpFault.ConnectionClosed, "The connection was lost.", error);
}
