using System.Buffers;
using System.IO.Pipelines;
using System.Net.Sockets;
using Sluice.Usenet.Nntp.Connections;
using Sluice.Usenet.Nntp.Wire;
using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Nntp.Fetching;

/// <summary>
/// Connections that are opened to find out how an account answers, and closed again. Of an account that is in use they take the places
/// that it has free, so that the server never counts more than the settings promise.
/// </summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> guards the connections that are open. Dispose closes those, with QUIT where they owe nothing; nothing may be
/// under way by then.
/// </remarks>
public sealed class AccountTest : IAsyncDisposable
{
    // For idle connections of the account that make room; servers close within a round trip of QUIT.
    private static readonly TimeSpan RoomPatience = TimeSpan.FromSeconds(2);

    private readonly Lock _gate = new();
    private readonly HashSet<TestConnection> _open = [];
    private readonly NntpConnectionPool? _pool;
    private readonly SharedResources _shared;
    private readonly INameResolver _names;
    private readonly NntpOptions _options;
    private readonly Func<Task>? _release;

    internal AccountTest(NntpConnectionPool? pool, SharedResources shared, INameResolver names, NntpOptions options, Func<Task>? release) =>
        (_pool, _shared, _names, _options, _release) = (pool, shared, names, options, release);

    /// <summary>Whether the account is one of the settings.</summary>
    public bool IsSaved => _pool is not null;

    /// <summary>Connections of the account that are open beside those of the test.</summary>
    public int Beside => _pool?.Counts.Open ?? 0;

    /// <summary>Closes the connections of the account that owe nothing, so that the test has places.</summary>
    /// <param name="cancellationToken">Gives the wait up.</param>
    public async Task MakeRoomAsync(CancellationToken cancellationToken)
    {
        if (_pool is null)
            return;
        try
        {
            await Task.WhenAll(_pool.CloseIdle()).WaitAsync(RoomPatience, _shared.Time, cancellationToken);
        }
        catch (TimeoutException)
        {
            // A server that takes longer to close them counts them still.
        }
    }

    /// <summary>Opens a connection and logs in.</summary>
    /// <param name="provider">Host and port of the account; TLS and login may be other ones.</param>
    /// <param name="entering">Told when a step begins, on any thread; null: nothing is.</param>
    /// <param name="cancellationToken">Gives the dial up.</param>
    /// <returns>The caller or the test disposes it. Null when the account has no place free.</returns>
    /// <exception cref="NntpException">It cannot be reached or logged in to.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
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
                var transport = await new NntpDialer(provider, _options, _shared.Meter, _shared.Time, _names, places, family: null, entering)
                    .DialAsync(cancellationToken);
                var connection = new TestConnection(transport, _pool, _shared, _options, Closed);
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

    /// <inheritdoc/>
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

/// <summary>A connection of an <see cref="AccountTest"/>, logged in.</summary>
/// <remarks>One caller at a time. A call that fails or is cancelled leaves a connection of which only the dispose is of use.</remarks>
public sealed class TestConnection : IAsyncDisposable
{
    private static readonly TimeSpan QuitPatience = TimeSpan.FromSeconds(2);

    private readonly NntpTransport _transport;
    private readonly NntpConnectionPool? _pool;
    private readonly SharedResources _shared;
    private readonly NntpOptions _options;
    private readonly Action<TestConnection> _closed;
    private readonly ArrayBufferWriter<byte> _command = new(512);
    private int _owed;
    private bool _isClosed;

    internal TestConnection(NntpTransport transport, NntpConnectionPool? pool, SharedResources shared, NntpOptions options, Action<TestConnection> closed) =>
        (_transport, _pool, _shared, _options, _closed) = (transport, pool, shared, options, closed);

    /// <summary>Replies still to come.</summary>
    public int Owed => _owed;

    /// <summary>Whether the server answers only after a login, where there was none.</summary>
    /// <exception cref="NntpException">The connection broke, or nothing came in time.</exception>
    public async Task<bool> WantsLoginAsync(CancellationToken cancellationToken)
    {
        using var deadline = new CancellationTokenSource(_options.LoginTimeout, _shared.Time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(deadline.Token, cancellationToken);
        try
        {
            // Of an article that no server has: any other answer says that it is open.
            await SendAsync(output => NntpCommandWriter.WriteStat(output, MessageId.Parse("login@sluice.invalid")), either.Token);
            return (await ReadLineAsync(either.Token)).Code == NntpResponseCode.AuthenticationRequired;
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            throw new NntpException(NntpFault.ConnectTimeout, "The server did not answer in time.");
        }
    }

    /// <summary>Selects a group.</summary>
    /// <returns>The lowest and the highest number of its articles; null when the server has no such group, or none to give.</returns>
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

    /// <summary>Asks for a body by its name; <see cref="ReceiveAsync"/> takes it.</summary>
    public Task AskAsync(MessageId id, CancellationToken cancellationToken) =>
        SendAsync(output => NntpCommandWriter.WriteBody(output, id), cancellationToken);

    /// <summary>The same by its number in the group that was selected.</summary>
    public Task AskAsync(long number, CancellationToken cancellationToken) =>
        SendAsync(output => NntpCommandWriter.WriteBody(output, number), cancellationToken);

    /// <summary>Takes the next of the bodies that were asked for, in their order.</summary>
    /// <param name="sink">Takes it.</param>
    /// <param name="cancellationToken">Gives it up.</param>
    /// <returns>False when the server does not have it.</returns>
    /// <exception cref="NntpException">The connection broke, or what came is no body.</exception>
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

    /// <summary>Says QUIT where nothing is owed, and closes.</summary>
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

    /// <returns>Whether the server has closed its side.</returns>
    private async Task<bool> TryQuitAsync()
    {
        using var deadline = new CancellationTokenSource(QuitPatience, _shared.Time);
        try
        {
            await SendAsync(NntpCommandWriter.WriteQuit, deadline.Token);
            _transport.FinishSending();
            while (true)
            {
                var result = await _transport.Input.ReadAsync(deadline.Token);
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

    /// <summary>Closes in the midst of things: where the account is in use, the place is kept until the server has noticed.</summary>
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
        _shared.Meter.Received(bytes);
        _shared.Bandwidth.Count(bytes);
        _pool?.Traffic.Received(bytes);
    }

    private static NntpException Lost(IOException error) => new(NntpFault.ConnectionClosed, "The connection was lost.", error);
}
