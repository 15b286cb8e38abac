using System.Globalization;
using System.Net.Sockets;
using Sluice.Server.Outbound;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Fetching;

namespace Sluice.Server.Providers;

/// <summary>One test of one login: name, TCP, TLS, login, how many connections, how fast. Each step has a deadline.</summary>
/// <param name="account">Opens the connections; closes those that are left when it is disposed.</param>
/// <param name="subject">What is tested.</param>
/// <param name="articles">Finds articles for the measure of the speed.</param>
/// <param name="budget">What that may cost.</param>
/// <param name="tell">Takes the news, on any thread.</param>
/// <param name="time">Clock.</param>
internal sealed class ProviderTestRun(AccountTest account, TestSubject subject, SpeedArticles articles, SpeedBudget budget, Action<TestStep> tell, TimeProvider time)
{
    /// <summary>The ceiling is never looked for beyond this many.</summary>
    public const int MostConnections = 100;

    // More at a time look like an attack; and the speed of twenty is that of the line.
    private const int HandshakesAtATime = 4;
    private const int MostMeasured = 20;

    // A hundred connections, four at a time, a second each.
    private static readonly TimeSpan CeilingPatience = TimeSpan.FromSeconds(30);

    private readonly ProviderOptions _provider = subject.Provider;
    private ProviderTestStage _stage;
    private long _since;

    /// <summary>Runs all steps, up to the first that fails.</summary>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public async Task RunAsync(CancellationToken cancellationToken)
    {
        if (await ConnectAsync(cancellationToken) is not { } first)
            return;
        var open = await FindCeilingAsync(first, cancellationToken);
        await MeasureAsync(open, cancellationToken);
    }

    /// <summary>Opens the first connection.</summary>
    /// <returns>Null where a step failed, which has been told.</returns>
    private async Task<TestConnection?> ConnectAsync(CancellationToken cancellationToken)
    {
        var step = DialStep.Name;
        Begin(ProviderTestStage.Dns);
        try
        {
            // Without a password there is no login, and nothing that could be sent to the wrong host.
            var tried = subject.NeedsPassword ? _provider with { User = null, Password = null } : _provider;
            if (await OpenFirstAsync(tried, entered => Enter(step = entered), cancellationToken) is not { } connection)
            {
                End(ProviderTestState.Skipped);
                Begin(ProviderTestStage.Tcp);
                Fail(ProviderTestCause.TooManyConnections, $"All connections of {_provider.Host} that are set are in use by this server. Stop what plays, and test again.");
                return null;
            }

            if (subject.NeedsPassword)
                Fail(ProviderTestCause.PasswordNeeded, "Enter the password again: the saved one goes only to the address that it was saved for.");
            else if (_provider.User is null && await connection.WantsLoginAsync(cancellationToken))
                Fail(ProviderTestCause.WrongLogin, $"{_provider.Host} asks for a user and a password.");
            else
            {
                End(ProviderTestState.Ok, _provider.User is null ? $"{_provider.Host} needs no login." : $"{_provider.Host} accepts user and password.");
                return connection;
            }
        }
        catch (NntpException failure)
        {
            var (cause, sentence) = await ExplainAsync(failure, step, cancellationToken);
            Fail(cause, sentence);
        }

        return null;
    }

    private async Task<TestConnection?> OpenFirstAsync(ProviderOptions tried, Action<DialStep> entering, CancellationToken cancellationToken)
    {
        if (await account.OpenAsync(tried, entering, cancellationToken) is { } connection)
            return connection;
        await account.MakeRoomAsync(cancellationToken);
        return await account.OpenAsync(tried, entering, cancellationToken);
    }

    /// <summary>By the dial: a step begins, and the one before has passed.</summary>
    private void Enter(DialStep step)
    {
        var stage = step switch
        {
            DialStep.Name => ProviderTestStage.Dns,
            DialStep.Connect => ProviderTestStage.Tcp,
            DialStep.Secure => ProviderTestStage.Tls,
            _ => ProviderTestStage.Login,
        };
        if (stage == _stage)
            return;
        End(ProviderTestState.Ok);
        if (stage == ProviderTestStage.Login && _stage == ProviderTestStage.Tcp)
        {
            Begin(ProviderTestStage.Tls);
            End(ProviderTestState.Skipped, "Without TLS others on the way can read user and password.");
        }

        Begin(stage);
    }

    private async Task<(ProviderTestCause Cause, string Sentence)> ExplainAsync(NntpException failure, DialStep step, CancellationToken cancellationToken)
    {
        if (failure.InnerException is AddressRefusedException refused)
            return (ProviderTestCause.ForbiddenAddress, $"{_provider.Host} is not asked: {refused.Message}.");
        var sentence = ProviderSentences.Of(failure.Fault, _provider, failure.Detail);
        switch (failure.Fault)
        {
            case NntpFault.NameNotResolved:
                return (ProviderTestCause.UnknownHost, sentence);
            case NntpFault.ConnectTimeout when step == DialStep.Name:
                return (ProviderTestCause.Silent, $"{_provider.Host} could not be looked up in time. Check the network and the DNS server of this machine.");
            case NntpFault.ConnectFailed when failure.InnerException is SocketException { SocketErrorCode: SocketError.NetworkUnreachable or SocketError.HostUnreachable or SocketError.NetworkDown }:
                return (ProviderTestCause.Silent, $"There is no way to {_provider.Host} from here. Check the network of this machine.");
            case NntpFault.ConnectFailed:
                return (ProviderTestCause.ConnectionRefused, sentence);
            case NntpFault.CertificateRefused:
                return (ProviderTestCause.BadCertificate, sentence);
            case NntpFault.TlsFailed:
                return (ProviderTestCause.PlainPort, sentence);
            case NntpFault.LoginRefused:
                return (ProviderTestCause.WrongLogin, sentence);
            case NntpFault.AccountRefused:
                return (ProviderTestCause.AccountExpired, sentence);
            case NntpFault.TooManyConnections or NntpFault.NoConnection:
                return (ProviderTestCause.TooManyConnections, sentence);
        }

        if (step == DialStep.Greet && !_provider.UseTls && failure.Fault != NntpFault.GreetingRefused && await SpeaksTlsAsync(cancellationToken))
            return (ProviderTestCause.TlsPort, ProviderSentences.TlsPort(_provider));
        return failure.Fault switch
        {
            NntpFault.ConnectTimeout => (ProviderTestCause.Silent, sentence),
            NntpFault.MalformedReply => (ProviderTestCause.NotNntp, ProviderSentences.NotNntp(_provider)),

            // The greetings of other protocols begin with a number too: 220 is one of mail.
            NntpFault.GreetingRefused when failure.Detail is not ['4' or '5', ..] => (ProviderTestCause.NotNntp, ProviderSentences.NotNntp(_provider)),
            NntpFault.ConnectionClosed => (ProviderTestCause.Refused, $"{_provider.Host} closed the connection {(step == DialStep.Secure ? "when TLS began" : "before the login was done")}. Check the port."),
            _ => (ProviderTestCause.Refused, sentence),
        };
    }

    /// <summary>Whether the port greets behind TLS. No login goes over this connection, whatever its certificate is.</summary>
    private async Task<bool> SpeaksTlsAsync(CancellationToken cancellationToken)
    {
        var isSecure = false;
        try
        {
            var secured = _provider with { UseTls = true, SkipTlsVerification = true, TlsPin = null, User = null, Password = null };
            if (await account.OpenAsync(secured, step => isSecure |= step == DialStep.Greet, cancellationToken) is { } connection)
                await connection.DisposeAsync();
        }
        catch (NntpException)
        {
            // Whatever comes behind TLS, the port speaks it.
        }

        return isSecure;
    }

    /// <summary>Opens connections until one is refused, or there are as many as are looked for.</summary>
    /// <returns>Those that are measured; the others are closed.</returns>
    private async Task<IReadOnlyList<TestConnection>> FindCeilingAsync(TestConnection first, CancellationToken cancellationToken)
    {
        Begin(ProviderTestStage.Ceiling);
        var most = Math.Clamp(subject.MostConnections, 1, MostConnections);
        var search = new CeilingSearch(account, _provider, first, most, found => tell(new TestStep(ProviderTestStage.Ceiling, ProviderTestState.Running, Elapsed, Value: found)));
        using (var deadline = new CancellationTokenSource(CeilingPatience, time))
        using (var either = CancellationTokenSource.CreateLinkedTokenSource(deadline.Token, cancellationToken))
        {
            await search.RunAsync(HandshakesAtATime, either.Token);
            cancellationToken.ThrowIfCancellationRequested();
        }

        var found = search.Found;
        End(ProviderTestState.Ok, search.Describe(), found);
        var spare = search.Open.Skip(MostMeasured).ToList();
        await Task.WhenAll(spare.Select(connection => connection.DisposeAsync().AsTask()));
        return [.. search.Open.Take(MostMeasured)];
    }

    private async Task MeasureAsync(IReadOnlyList<TestConnection> connections, CancellationToken cancellationToken)
    {
        Begin(ProviderTestStage.Speed);
        var measure = new SpeedMeasure(connections, budget, time, speed => tell(new TestStep(ProviderTestStage.Speed, ProviderTestState.Running, Elapsed, Value: speed)));
        if (await measure.RunAsync(articles, cancellationToken) is { } speed)
        {
            var each = connections.Count == 1 ? "one connection" : string.Create(CultureInfo.InvariantCulture, $"{connections.Count} connections");
            End(ProviderTestState.Ok, string.Create(CultureInfo.InvariantCulture, $"{speed / 1e6:0.0} MB/s over {each}."), speed);
        }
        else
        {
            End(ProviderTestState.Skipped, "The speed is measured with your first film: there is no article here to measure it with.");
        }
    }

    private TimeSpan Elapsed => time.GetElapsedTime(_since);

    private void Begin(ProviderTestStage stage)
    {
        (_stage, _since) = (stage, time.GetTimestamp());
        tell(new TestStep(stage, ProviderTestState.Running, TimeSpan.Zero));
    }

    private void End(ProviderTestState state, string? sentence = null, long? value = null) => tell(new TestStep(_stage, state, Elapsed, null, sentence, value));

    private void Fail(ProviderTestCause cause, string sentence) => tell(new TestStep(_stage, ProviderTestState.Failed, Elapsed, cause, sentence));
}

/// <summary>Finds how many connections an account takes, by opening them.</summary>
/// <remarks><c>_gate</c> guards the fields below it; nothing else is taken under it.</remarks>
internal sealed class CeilingSearch
{
    private readonly Lock _gate = new();
    private readonly List<TestConnection> _open;
    private readonly AccountTest _account;
    private readonly ProviderOptions _provider;
    private readonly int _most;
    private readonly Action<int> _found;
    private int _begun = 1;
    private bool _isFull;
    private NntpException? _refusal;

    public CeilingSearch(AccountTest account, ProviderOptions provider, TestConnection first, int most, Action<int> found) =>
        (_account, _provider, _open, _most, _found) = (account, provider, [first], most, found);

    /// <summary>The connections that were accepted.</summary>
    public IReadOnlyList<TestConnection> Open => _open;

    /// <summary>Connections that the account takes, those included that serve beside the test.</summary>
    public int Found => _open.Count + _account.Beside;

    /// <summary>Opens connections until one is refused.</summary>
    /// <param name="atATime">Handshakes under way at most.</param>
    /// <param name="cancellationToken">Ends the search with what has been found.</param>
    public Task RunAsync(int atATime, CancellationToken cancellationToken) =>
        Task.WhenAll(Enumerable.Range(0, atATime).Select(_ => OpenAsync(cancellationToken)));

    /// <summary>What was found, as a sentence.</summary>
    public string Describe()
    {
        var (found, beside) = (Found, _account.Beside);
        var used = beside switch
        {
            0 => "",
            1 => " One of them is the one that this server has open.",
            _ => string.Create(CultureInfo.InvariantCulture, $" {beside} of them are those that this server has open."),
        };
        var connections = found == 1 ? "one connection" : string.Create(CultureInfo.InvariantCulture, $"{found} connections");
        var accepted = found == 1 ? "One connection was accepted" : $"{connections} were accepted";
        if (_isFull)
            return $"{(found == 1 ? "The one connection that is set was" : $"All {connections} that are set were")} accepted.{used} Save a higher number to look for more.";
        return _refusal?.Fault switch
        {
            null => $"{accepted}; no more were tried.{used}",
            NntpFault.TooManyConnections or NntpFault.GreetingRefused or NntpFault.LoginRefused or NntpFault.AccountRefused =>
                $"{_provider.Host} allows {connections}.{used}",
            var other => $"{accepted}, and the next one was not. {ProviderSentences.Of(other.Value, _provider, _refusal.Detail)}",
        };
    }

    private async Task OpenAsync(CancellationToken cancellationToken)
    {
        while (TryBegin())
        {
            try
            {
                if (await _account.OpenAsync(_provider, entering: null, cancellationToken) is not { } connection)
                {
                    lock (_gate)
                        _isFull = true;
                    return;
                }

                int open;
                lock (_gate)
                {
                    _open.Add(connection);
                    open = _open.Count;
                }

                _found(open);
            }
            catch (NntpException failure)
            {
                lock (_gate)
                    _refusal ??= failure;
            }
            catch (OperationCanceledException)
            {
                // The time is over; what is open counts.
                return;
            }
        }
    }

    private bool TryBegin()
    {
        lock (_gate)
        {
            if (_isFull || _refusal is not null || _begun == _most)
                return false;
            _begun++;
            return true;
        }
    }
}
