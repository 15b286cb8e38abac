using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Threading.Channels;
using Sluice.Tools.MockNntpServer.Faults;

namespace Sluice.Tools.MockNntpServer.Wire;

/// <summary>Serves one client until both sides have closed. A reader records arrival times while a sender responds in order.</summary>
internal sealed class MockConnection(ProviderState provider, Socket socket, int number, Handshake? tls)
{
    /// <summary>Maximum number of commands pending on one connection. Beyond it the reader pauses.</summary>
    private const int MaxOutstanding = 4096;

    private const int OneByteRecords = 4096;

    private static readonly TimeSpan LongestIdle = TimeSpan.FromSeconds(60);

    private readonly long _accepted = provider.Clock.Now;
    private bool _clientGone;
    private bool _isServed;

    /// <summary>Serves the client. Never throws, however the connection ends.</summary>
    public async Task RunAsync(CancellationToken stopping)
    {
        var place = provider.Census.Enter(socket, provider.Stats);
        provider.Stats.HandshakeBegan();
        try
        {
            socket.NoDelay = true;
            var end = await ServeAsync(place, stopping);
            if (end == AnswerEnd.Reset)
                socket.LingerState = new LingerOption(true, 0);
            else if (!_clientGone)
                await CloseAfterClientAsync(stopping);
        }
        catch (Exception e) when (e is IOException or SocketException or OperationCanceledException or ObjectDisposedException or InvalidDataException)
        {
            // Ignored, because the socket is closed whether the client disconnected or broke the protocol, or the mock stops.
        }
        finally
        {
            EndHandshake();
            socket.Dispose();
            provider.Census.Leave(place);
        }
    }

    private async Task<AnswerEnd> ServeAsync(SocketCensus.Entry place, CancellationToken stopping)
    {
        var admitted = provider.Settings.CapAtLogin || provider.Census.TryAdmit(place, provider.Cap(number));
        var due = provider.Clock.Add(_accepted, provider.RoundTrip(number, 0));
        var fault = Count(provider.Hit(FaultStage.Connect, number));
        if (fault?.Kind == FaultKind.ConnectClose)
            return AnswerEnd.Close;
        if (fault?.Kind == FaultKind.ConnectReset)
            return AnswerEnd.Reset;
        if (fault?.Kind == FaultKind.ConnectSlow)
            due = provider.Clock.Add(due, fault.Duration ?? TimeSpan.FromSeconds(3));

        await using var network = new NetworkStream(socket, ownsSocket: false);
        if (tls is null)
            return await TalkAsync(network, new AnswerSender(network, provider, number, place), place, admitted, due, stopping);

        await provider.Clock.UntilAsync(due, stopping);
        fault = Count(provider.Hit(FaultStage.Handshake, number));
        SslStream? secure = null;
        try
        {
            secure = await tls.ShakeAsync(network, fault, stopping);
        }
        catch (Exception e) when (e is AuthenticationException or IOException)
        {
            // Counted below, like a handshake that the mock itself aborts.
        }

        if (secure is null)
        {
            provider.Stats.HandshakeFailed();
            return AnswerEnd.Close;
        }

        var sender = new AnswerSender(secure, provider, number, place) { SingleBytes = fault?.Kind == FaultKind.TlsOneByte ? fault.Offset ?? OneByteRecords : 0 };
        await using (secure)
            return await TalkAsync(secure, sender, place, admitted, provider.Clock.Add(due, provider.RoundTrip(number, 0)), stopping);
    }

    private async Task<AnswerEnd> TalkAsync(Stream stream, AnswerSender sender, SocketCensus.Entry place, bool admitted, long due, CancellationToken stopping)
    {
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(stopping);
        var commands = Channel.CreateBounded<Command>(new BoundedChannelOptions(MaxOutstanding) { SingleReader = true, SingleWriter = true });
        var reader = new CommandReader(stream, provider, number, commands.Writer);
        var reading = ReadAsync(reader, sender, place, ended);
        try
        {
            var greeting = Greeting(admitted);
            await provider.Clock.UntilAsync(due, ended.Token);
            if (greeting is not null)
                await sender.SendAsync(greeting, provider.Settings.User is null || greeting.End != AnswerEnd.Open ? EndHandshake : null, ended.Token);
            if (greeting is { End: not AnswerEnd.Open })
                return greeting.End;
            if (greeting is null)
                await provider.Clock.DelayAsync(null, ended.Token);

            var session = new Session(provider, number, () => provider.Census.TryAdmit(place, provider.Cap(number)));
            return await AnswerAllAsync(session, sender, place, reader.Answered, commands.Reader, ended.Token);
        }
        catch (Exception e) when (e is IOException or OperationCanceledException && !stopping.IsCancellationRequested)
        {
            _clientGone = true;
            provider.Stats.LeftUnanswered(reader.Outstanding);
            return AnswerEnd.Close;
        }
        finally
        {
            await ended.CancelAsync();
            await reading;
            reader.Close();
        }
    }

    private async Task ReadAsync(CommandReader reader, AnswerSender sender, SocketCensus.Entry place, CancellationTokenSource ended)
    {
        try
        {
            await reader.RunAsync(ended.Token);
            _clientGone = true;
        }
        catch (Exception e) when (e is IOException or OperationCanceledException or InvalidDataException or ObjectDisposedException)
        {
            // The causes need no distinction, because the sender stops in each case.
        }

        await NoticeAsync(sender.Noticing, ended.Token);
        place.IsUnnoticed = false;
        await ended.CancelAsync();
    }

    private async Task NoticeAsync(Task atLatest, CancellationToken ended)
    {
        using var waiting = CancellationTokenSource.CreateLinkedTokenSource(ended);
        await Task.WhenAny(atLatest, Task.Delay(provider.Settings.NoticesAfter, provider.Clock.Provider, waiting.Token));
        await waiting.CancelAsync();
    }

    private async Task<AnswerEnd> AnswerAllAsync(Session session, AnswerSender sender, SocketCensus.Entry place, Action answered, ChannelReader<Command> commands, CancellationToken ended)
    {
        while (true)
        {
            if (await NextAsync(commands, ended) is not { } command)
                return await HangUpAsync(FaultKind.PolicyIdle, "400 Idle for too long");
            if (provider.Regime(FaultKind.PolicyCap, number) is not null && provider.Census.IsBeyond(place, provider.Cap(number)))
                return await HangUpAsync(FaultKind.PolicyCap, "502 Too many connections");
            var (answer, due) = Prepare(session, command);
            if (answer.Swap is { } swap && await SendNextFirstAsync(swap, due) is { } end)
                return end;

            await SendAsync(sender, session.IsLoggedIn || answer.End != AnswerEnd.Open ? answered + EndHandshake : answered, answer, due, ended);
            if (answer.End != AnswerEnd.Open)
                return answer.End;
        }

        async ValueTask<AnswerEnd> HangUpAsync(FaultKind kind, string why)
        {
            provider.Stats.FaultHappened(kind);
            await sender.SendAsync(Answer.Line(why), null, ended);
            return AnswerEnd.Close;
        }

        async ValueTask<AnswerEnd?> SendNextFirstAsync(MockFault swap, long due)
        {
            await provider.Clock.UntilAsync(due, ended);
            if (!commands.TryRead(out var next))
            {
                provider.Plan.GiveBack(swap);
                return null;
            }

            provider.Stats.FaultHappened(swap.Kind);
            var (other, otherDue) = Prepare(session, next);
            await SendAsync(sender, answered, other, otherDue, ended);
            return other.End == AnswerEnd.Open ? null : other.End;
        }
    }

    /// <summary>Returns the next command; null after the provider's idle timeout.</summary>
    private async ValueTask<Command?> NextAsync(ChannelReader<Command> commands, CancellationToken ended) =>
        provider.Regime(FaultKind.PolicyIdle, number) is not { } idle || await ArrivesWithinAsync(commands, idle.Duration ?? LongestIdle, ended)
            ? await commands.ReadAsync(ended)
            : null;

    private async Task<bool> ArrivesWithinAsync(ChannelReader<Command> commands, TimeSpan patience, CancellationToken ended)
    {
        using var waiting = CancellationTokenSource.CreateLinkedTokenSource(ended);
        var arrival = commands.WaitToReadAsync(waiting.Token).AsTask();
        var idle = provider.Clock.DelayAsync(patience, waiting.Token).AsTask();
        var hasArrived = await Task.WhenAny(arrival, idle) == arrival;
        await waiting.CancelAsync();
        try
        {
            await Task.WhenAll(arrival, idle);
        }
        catch (OperationCanceledException) when (!ended.IsCancellationRequested)
        {
            // The task that lost the race was canceled.
        }

        return hasArrived;
    }

    /// <summary>Returns the response, created during its round trip, and its earliest start.</summary>
    private (Answer Answer, long Due) Prepare(Session session, Command command)
    {
        var from = provider.Settings.SerialLatency ? provider.Clock.Now : command.Arrived;
        var answer = session.Answer(command);
        return (answer, provider.Clock.Add(from, provider.RoundTrip(number, command.Number) + answer.Delay));
    }

    private async Task SendAsync(AnswerSender sender, Action answered, Answer answer, long due, CancellationToken ended)
    {
        await provider.Clock.UntilAsync(due, ended);
        var handedOver = false;
        try
        {
            await sender.SendAsync(answer, HandOver, ended);
        }
        catch (Exception e) when (e is IOException or OperationCanceledException)
        {
            if (answer.BodyStart > 0)
                provider.Stats.BodyCancelled(handedOver && answer.IsArticle);
            throw;
        }

        void HandOver()
        {
            handedOver = true;
            answered();
            if (answer.IsArticle)
                provider.Stats.ArticleSent();
        }
    }

    private Answer? Greeting(bool admitted)
    {
        if (!admitted)
            return Answer.Line("502 Too many connections", AnswerEnd.Close);
        var fault = Count(provider.Hit(FaultStage.Greeting, number));
        return fault?.Kind switch
        {
            FaultKind.Greeting400 => Answer.Line(fault.Text ?? "400 Service temporarily unavailable", AnswerEnd.Close),
            FaultKind.Greeting502 => Answer.Line(fault.Text ?? "502 Too many connections", AnswerEnd.Close),
            FaultKind.GreetingGarbage => Answer.Line(fault.Text ?? "\u0001\u0002 this is no news server \u00FF"),
            FaultKind.GreetingNone => null,
            FaultKind.GreetingBanner => Answer.Line("200 " + new string('*', 10 * 1024)),
            _ => Answer.Line("200 sluice.mock ready (posting prohibited)"),
        };
    }

    /// <summary>Ends the handshake count, because the client is served or has disconnected.</summary>
    private void EndHandshake()
    {
        if (_isServed)
            return;
        _isServed = true;
        provider.Stats.HandshakeEnded();
    }

    private MockFault? Count(MockFault? fault)
    {
        if (fault is not null)
            provider.Stats.FaultHappened(fault.Kind);
        return fault;
    }

    /// <summary>Closes the sending side, and waits for the client to close its side.</summary>
    private async Task CloseAfterClientAsync(CancellationToken stopping)
    {
        socket.Shutdown(SocketShutdown.Send);
        var waste = new byte[4096];
        while (await socket.ReceiveAsync(waste, stopping) > 0)
        {
        }
    }
}
