using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Runtime.CompilerServices;
using System.Threading.Channels;
using Sluice.Server.Outbound;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Fetching;

namespace Sluice.Server.Providers;

/// <summary>Starts account checks, one at a time, because two checks would compete for connections.</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class AccountChecks(ProviderHost providers, HostLookup lookup, SpeedArticles articles, SpeedBudget budget, TimeProvider time)
{
    private int _isTaken;

    /// <summary>Prepares a check. Contacts nothing before the check runs.</summary>
    /// <param name="provider">Address and login, saved or not. The connection search stops at its <see cref="ProviderOptions.MaxConnections"/>.</param>
    /// <param name="needsPassword">Whether the password is missing, because the saved one must not be sent to this address.</param>
    /// <returns>The check; null while another one exists. The caller disposes it, which allows the next.</returns>
    public AccountCheck? TryBegin(ProviderOptions provider, bool needsPassword)
    {
        if (Interlocked.Exchange(ref _isTaken, 1) == 1)
            return null;
        // The speed test must not exceed the data cap of a saved account.
        var saved = providers.Providers.FirstOrDefault(state => state.Options.Id == provider.Id);
        var most = saved?.Options.Quota?.Left(providers.Charged(saved.Account)) ?? long.MaxValue;
        var isSavedHost = providers.Providers.Any(state => state.Options.Host.Equals(provider.Host, StringComparison.OrdinalIgnoreCase));
        return new AccountCheck(
            provider, needsPassword, () => providers.Test(provider, new GuardedNames(lookup, isSavedHost)), articles, budget with { Bytes = Math.Clamp(most, 0, budget.Bytes) }, time, () => Volatile.Write(ref _isTaken, 0));
    }

    /// <summary>Omits addresses that are not public (S10). Saved hosts are trusted, because the administrator entered them.</summary>
    private sealed class GuardedNames(HostLookup lookup, bool isTrusted) : INameResolver
    {
        public async ValueTask<IReadOnlyList<IPAddress>> ResolveAsync(string host, CancellationToken cancellationToken)
        {
            var found = IPAddress.TryParse(host.Trim('[', ']'), out var literal) ? [literal] : await lookup(host, cancellationToken);
            if (isTrusted || found.Length == 0)
                return found;
            IPAddress[] allowed = [.. found.Where(address => AddressGuard.RefuseConfigured(address) is null)];
            return allowed.Length > 0 ? allowed : throw new AddressRefusedException(AddressGuard.RefuseConfigured(found[0])!);
        }
    }
}

/// <summary>Checks one account: name, TCP, TLS, login, connection limit, speed. Each stage has a deadline; the first failure ends the check.</summary>
/// <remarks>Runs once. <c>_gate</c> guards the fields of the connection search while it runs. No other lock is taken inside it.</remarks>
internal sealed class AccountCheck(
    ProviderOptions provider, bool needsPassword, Func<AccountTest> open, SpeedArticles articles, SpeedBudget budget, TimeProvider time, Action ended) : IDisposable
{
    /// <summary>Maximum connections that the search opens.</summary>
    public const int MostConnections = 100;

    // More concurrent handshakes look like an attack, and twenty connections saturate the line.
    private const int HandshakesAtATime = 4;
    private const int MostMeasured = 20;

    // Enough for a hundred connections, because four at a time need about one second each.
    private static readonly TimeSpan CeilingTimeout = TimeSpan.FromSeconds(30);

    // Unbounded, because it holds at most some hundred steps: one per connection, and one per half second of the speed test.
    private readonly Channel<ProviderTestStep> _steps = Channel.CreateUnbounded<ProviderTestStep>(new UnboundedChannelOptions { SingleReader = true });
    private readonly Lock _gate = new();
    private readonly List<TestConnection> _open = [];
    private int _begun = 1;
    private bool _isFull;
    private NntpException? _refusal;
    private ProviderTestStage _stage;
    private long _since;

    /// <summary>The result so far; final after the last step.</summary>
    public ProviderTestOutcome Outcome { get; private set; } = new(true, null, null);

    /// <summary>Runs all stages.</summary>
    /// <returns>The progress. When the enumeration ends for any reason, all connections are closed.</returns>
    public async IAsyncEnumerable<ProviderTestStep> RunAsync([EnumeratorCancellation] CancellationToken cancellationToken)
    {
        using var gone = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var work = WorkAsync(gone.Token);
        try
        {
            await foreach (var step in _steps.Reader.ReadAllAsync(cancellationToken))
                yield return step;
        }
        finally
        {
            await gone.CancelAsync();
            await work;
        }
    }

    /// <summary>Allows the next check.</summary>
    public void Dispose() => ended();

    /// <summary>Never throws, because exceptions are passed to the reader of the channel.</summary>
    private async Task WorkAsync(CancellationToken cancellationToken)
    {
        try
        {
            await using (var account = open())
            {
                if (await ConnectAsync(account, cancellationToken) is { } first)
                    await MeasureAsync(await FindCeilingAsync(account, first, cancellationToken), cancellationToken);
            }

            _steps.Writer.Complete();
        }
        catch (Exception failure)
        {
            _steps.Writer.Complete(failure);
        }
    }

    /// <summary>Opens the first connection.</summary>
    /// <returns>The connection; null if a stage has failed, which was reported.</returns>
    private async Task<TestConnection?> ConnectAsync(AccountTest account, CancellationToken cancellationToken)
    {
        var step = DialStep.Name;
        Begin(ProviderTestStage.Dns);
        try
        {
            // Omit the login without a password, so that no secret reaches the wrong host.
            var tried = needsPassword ? provider with { User = null, Password = null } : provider;
            if (await OpenFirstAsync(account, tried, entered => Enter(step = entered), cancellationToken) is not { } connection)
            {
                End(ProviderTestState.Skipped);
                Begin(ProviderTestStage.Tcp);
                Fail(ProviderTestCause.TooManyConnections, $"All connections of {provider.Host} that are set are in use by this server. Stop what plays, and test again.");
                return null;
            }

            if (needsPassword)
                Fail(ProviderTestCause.PasswordNeeded, "Enter the password again: the saved one goes only to the address that it was saved for.");
            else if (provider.User is null && await connection.WantsLoginAsync(cancellationToken))
                Fail(ProviderTestCause.WrongLogin, $"{provider.Host} asks for a username and a password.");
            else
            {
                End(ProviderTestState.Ok, provider.User is null ? $"{provider.Host} needs no login." : $"{provider.Host} accepts username and password.");
                return connection;
            }
        }
        catch (NntpException failure)
        {
            var (cause, sentence) = await ExplainAsync(account, failure, step, cancellationToken);
            Fail(cause, sentence);
        }

        return null;
    }

    private static async Task<TestConnection?> OpenFirstAsync(AccountTest account, ProviderOptions tried, Action<DialStep> entering, CancellationToken cancellationToken)
    {
        if (await account.OpenAsync(tried, entering, cancellationToken) is { } connection)
            return connection;
        await account.MakeRoomAsync(cancellationToken);
        return await account.OpenAsync(tried, entering, cancellationToken);
    }

    /// <summary>Called by the dialer when a step begins, which means that the previous step has passed.</summary>
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
            End(ProviderTestState.Skipped, "Without TLS others on the way can read username and password.");
        }

        Begin(stage);
    }

    private async Task<(ProviderTestCause Cause, string Sentence)> ExplainAsync(
        AccountTest account, NntpException failure, DialStep step, CancellationToken cancellationToken)
    {
        if (failure.InnerException is AddressRefusedException refused)
            return (ProviderTestCause.ForbiddenAddress, $"{provider.Host} is not asked: {refused.Message}.");
        var sentence = ProviderSentences.Of(failure.Fault, provider, failure.Detail);
        return failure.Fault switch
        {
            NntpFault.NameNotResolved => (ProviderTestCause.UnknownHost, sentence),
            NntpFault.ConnectTimeout when step == DialStep.Name =>
                (ProviderTestCause.Silent, $"{provider.Host} could not be looked up in time. Check the network and the DNS server of this machine."),
            NntpFault.ConnectFailed when failure.InnerException is SocketException { SocketErrorCode: SocketError.NetworkUnreachable or SocketError.HostUnreachable or SocketError.NetworkDown } =>
                (ProviderTestCause.Silent, $"There is no way to {provider.Host} from here. Check the network of this machine."),
            NntpFault.ConnectFailed => (ProviderTestCause.ConnectionRefused, sentence),
            NntpFault.CertificateRefused => (ProviderTestCause.BadCertificate, sentence),
            NntpFault.TlsFailed => (ProviderTestCause.PlainPort, sentence),
            NntpFault.LoginRefused => (ProviderTestCause.WrongLogin, sentence),
            NntpFault.AccountRefused => (ProviderTestCause.AccountExpired, sentence),
            NntpFault.TooManyConnections or NntpFault.NoConnection => (ProviderTestCause.TooManyConnections, sentence),

            // A port that expects TLS can cause any of the faults below.
            not NntpFault.GreetingRefused when step == DialStep.Greet && !provider.UseTls && await SpeaksTlsAsync(account, cancellationToken) =>
                (ProviderTestCause.TlsPort, ProviderSentences.TlsPort(provider)),
            NntpFault.ConnectTimeout => (ProviderTestCause.Silent, sentence),
            NntpFault.MalformedReply => (ProviderTestCause.NotNntp, ProviderSentences.NotNntp(provider)),

            // Other protocols also greet with a number, such as 220 for mail.
            NntpFault.GreetingRefused when failure.Detail is not ['4' or '5', ..] => (ProviderTestCause.NotNntp, ProviderSentences.NotNntp(provider)),
            NntpFault.ConnectionClosed =>
                (ProviderTestCause.Refused, $"{provider.Host} closed the connection {(step == DialStep.Secure ? "when TLS began" : "before the login was done")}. Check the port."),
            _ => (ProviderTestCause.Refused, sentence),
        };
    }

    /// <summary>Whether the server greets after a TLS handshake. Sends no login, because it accepts any certificate.</summary>
    private async Task<bool> SpeaksTlsAsync(AccountTest account, CancellationToken cancellationToken)
    {
        var isSecure = false;
        try
        {
            var secured = provider with { UseTls = true, SkipTlsVerification = true, TlsPin = null, User = null, Password = null };
            if (await account.OpenAsync(secured, step => isSecure |= step == DialStep.Greet, cancellationToken) is { } connection)
                await connection.DisposeAsync();
        }
        catch (NntpException)
        {
            // The handshake succeeded, so the port speaks TLS even if the greeting failed.
        }

        return isSecure;
    }

    /// <summary>Opens connections until one is refused or the limit is reached.</summary>
    /// <returns>The connections for the speed test. The others are closed.</returns>
    private async Task<IReadOnlyList<TestConnection>> FindCeilingAsync(AccountTest account, TestConnection first, CancellationToken cancellationToken)
    {
        Begin(ProviderTestStage.Ceiling);
        _open.Add(first);
        using (var deadline = new CancellationTokenSource(CeilingTimeout, time))
        using (var either = CancellationTokenSource.CreateLinkedTokenSource(deadline.Token, cancellationToken))
        {
            await Task.WhenAll(Enumerable.Range(0, HandshakesAtATime).Select(_ => OpenMoreAsync(account, either.Token)));
            cancellationToken.ThrowIfCancellationRequested();
        }

        var beside = account.Beside;
        var found = _open.Count + beside;
        End(ProviderTestState.Ok, DescribeCeiling(found, beside), found);
        Outcome = Outcome with { Connections = found };
        await Task.WhenAll(_open.Skip(MostMeasured).Select(connection => connection.DisposeAsync().AsTask()));
        return [.. _open.Take(MostMeasured)];
    }

    private async Task OpenMoreAsync(AccountTest account, CancellationToken cancellationToken)
    {
        while (TryBeginOne())
        {
            try
            {
                var connection = await account.OpenAsync(provider, entering: null, cancellationToken);
                int count;
                lock (_gate)
                {
                    _isFull |= connection is null;
                    if (connection is not null)
                        _open.Add(connection);
                    count = _open.Count;
                }

                if (connection is not null)
                    Report(ProviderTestState.Running, value: count);
            }
            catch (NntpException failure)
            {
                lock (_gate)
                    _refusal ??= failure;
            }
            catch (OperationCanceledException)
            {
                // The deadline has passed, so only the connections opened so far count.
                return;
            }
        }
    }

    private bool TryBeginOne()
    {
        lock (_gate)
        {
            if (_isFull || _refusal is not null || _begun >= Math.Min(provider.MaxConnections, MostConnections))
                return false;
            _begun++;
            return true;
        }
    }

    private string DescribeCeiling(int found, int beside)
    {
        var used = beside switch
        {
            0 => "",
            1 => " One of them is the one that this server has open.",
            _ => string.Create(CultureInfo.InvariantCulture, $" {beside} of them are those that this server has open."),
        };
        var connections = Count(found);
        var accepted = found == 1 ? "One connection was accepted" : $"{connections} were accepted";
        if (_isFull)
            return $"{(found == 1 ? "The one connection that is set was" : $"All {connections} that are set were")} accepted.{used} Save a higher number to look for more.";
        return _refusal?.Fault switch
        {
            null => $"{accepted}; no more were tried.{used}",
            NntpFault.TooManyConnections or NntpFault.GreetingRefused or NntpFault.LoginRefused or NntpFault.AccountRefused =>
                $"{provider.Host} allows {connections}.{used}",
            var other => $"{accepted}, and the next one was not. {ProviderSentences.Of(other.Value, provider, _refusal.Detail)}",
        };
    }

    private async Task MeasureAsync(IReadOnlyList<TestConnection> connections, CancellationToken cancellationToken)
    {
        Begin(ProviderTestStage.Speed);
        var measure = new SpeedMeasure(connections, budget, time, speed => Report(ProviderTestState.Running, value: speed));
        if (await measure.RunAsync(articles, cancellationToken) is { } speed)
        {
            End(ProviderTestState.Ok, string.Create(CultureInfo.InvariantCulture, $"{speed / 1e6:0.0} MB/s over {Count(connections.Count)}."), speed);
            Outcome = Outcome with { BytesPerSecond = speed };
        }
        else if (budget.Bytes == 0)
        {
            End(ProviderTestState.Skipped, "The data cap leaves nothing to measure the speed with.");
        }
        else
        {
            End(ProviderTestState.Skipped, "The speed is measured with your first film: there is no article here to measure it with.");
        }
    }

    private static string Count(int connections) => connections == 1 ? "one connection" : string.Create(CultureInfo.InvariantCulture, $"{connections} connections");

    private void Begin(ProviderTestStage stage)
    {
        (_stage, _since) = (stage, time.GetTimestamp());
        Report(ProviderTestState.Running);
    }

    private void End(ProviderTestState state, string? sentence = null, long? value = null) => Report(state, null, sentence, value);

    private void Fail(ProviderTestCause cause, string sentence)
    {
        Outcome = Outcome with { Ok = false };
        Report(ProviderTestState.Failed, cause, sentence);
    }

    private void Report(ProviderTestState state, ProviderTestCause? cause = null, string? sentence = null, long? value = null) =>
        _steps.Writer.TryWrite(new ProviderTestStep(_stage, state, Math.Round(time.GetElapsedTime(_since).TotalMilliseconds, 1), cause, sentence, value));
}
