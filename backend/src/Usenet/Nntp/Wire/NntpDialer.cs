using System.Buffers;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Sluice.Usenet.Nntp.Wire;

/// <summary>The address family that last worked for a server. One per account.</summary>
/// <remarks>Thread-safe: one word, read at the start of a dial and written at its end.</remarks>
internal sealed class KnownFamily
{
    private volatile int _family = (int)AddressFamily.Unspecified;

    /// <summary>The family to try first; null if unknown.</summary>
    public AddressFamily? First
    {
        get => (AddressFamily)_family is var family and not AddressFamily.Unspecified ? family : null;
        set => _family = (int)(value ?? AddressFamily.Unspecified);
    }
}

/// <summary>Opens connections to one provider, within the timeouts: name lookup, TCP, TLS, greeting and login.</summary>
/// <remarks>
/// Without <c>names</c> it uses the system's resolver, without <c>places</c> it tries one address at a time, and without <c>family</c> it remembers no address
/// family. <c>entering</c> is called when a step begins. Without <c>beat</c>, connections pass on each piece as it arrives. Greeting and login bytes count in
/// <c>traffic</c>, or only in <c>meter</c> if <c>traffic</c> is null.
/// </remarks>
internal sealed class NntpDialer(
    ProviderOptions provider, NntpOptions options, NntpMeter meter, TimeProvider time, INameResolver? names = null, IDialPlaces? places = null, KnownFamily? family = null, Action<DialStep>? entering = null,
    GatheringBeat? beat = null, ProviderTraffic? traffic = null)
{
    // Maximum number of addresses to try. With more, each would get too little time.
    private const int MostAddresses = 8;

    // Two TLS records with their headers: SslStream may hold one whole record and a part of the next (RFC 8446 section 5.2).
    private const int MostHeldByTls = 2 * (16 * 1024 + 261);

    private readonly IDialPlaces _places = places ?? new NoPlaces(meter);
    private readonly ProviderTraffic _traffic = traffic ?? new ProviderTraffic(meter);

    /// <exception cref="NntpException">A step failed or took too long.</exception>
    public async Task<NntpTransport> DialAsync(CancellationToken cancellationToken)
    {
        using var deadline = new CancellationTokenSource(options.LoginTimeout, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(deadline.Token, cancellationToken);
        Socket? socket = null;
        NntpTransport? transport = null;
        var proved = false;
        cancellationToken.ThrowIfCancellationRequested();
        try
        {
            socket = await ConnectAsync(either.Token);
            var gathering = beat is null ? null : new GatheringStream(socket, beat, meter, provider.UseTls ? MostHeldByTls : 0);
            Stream stream = gathering ?? new NetworkStream(socket, ownsSocket: false);
            var ahead = provider.UseTls ? new ReceiveAheadStream(stream, options.ReceiveBufferBytes) : null;
            if (ahead is not null)
                stream = await SecureAsync(ahead, either.Token);
            transport = new NntpTransport(socket, stream, options.ReceiveBufferBytes, gathering, ahead);
            await GreetAsync(transport, either.Token);
            proved = true;
            await LogInAsync(transport, either.Token);
            Remember(socket.AddressFamily);
            return transport;
        }
        catch (Exception error)
        {
            if (socket is not null)
            {
                if (!proved)
                    Distrust(socket.AddressFamily);
                await CloseAsync(socket, transport, isOurs: error is OperationCanceledException);
            }

            cancellationToken.ThrowIfCancellationRequested();
            throw Explain(error);
        }
    }

    private async Task<Socket> ConnectAsync(CancellationToken cancellationToken)
    {
        using var deadline = new CancellationTokenSource(options.ConnectTimeout, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(deadline.Token, cancellationToken);
        entering?.Invoke(DialStep.Name);
        var found = await (names ?? new SystemNameResolver()).ResolveAsync(provider.Host, either.Token);
        var addresses = AddressRace.InTurn(found, family?.First, MostAddresses);
        if (addresses.Count == 0)
            throw new SocketException((int)SocketError.HostNotFound);
        entering?.Invoke(DialStep.Connect);
        return await new AddressRace(options, meter, time, _places).RunAsync(addresses, provider.Port, either.Token);
    }

    /// <summary>Closes a failed dial. The server may still count a socket that this side closed, but not one that the server refused.</summary>
    private async Task CloseAsync(Socket socket, NntpTransport? transport, bool isOurs)
    {
        try
        {
            if (transport is not null)
                await transport.ReleaseAsync();
        }
        finally
        {
            if (isOurs)
            {
                socket.StopSending();
                _places.Leave(socket);
            }
            else
            {
                socket.Reset();
                meter.SocketClosed();
            }
        }
    }

    private void Remember(AddressFamily worked)
    {
        if (family is not null)
            family.First = worked;
    }

    /// <summary>Prefers the other address family from now on, because TLS or the greeting failed over this one.</summary>
    private void Distrust(AddressFamily failed)
    {
        if (family is not null)
            family.First = failed == AddressFamily.InterNetwork ? AddressFamily.InterNetworkV6 : AddressFamily.InterNetwork;
    }

    private async Task<Stream> SecureAsync(Stream stream, CancellationToken cancellationToken)
    {
        entering?.Invoke(DialStep.Secure);

        // The system checks chain, dates and host name. The callback only adds the pin or disables the check.
        string? flaw = null;
        var secure = new SslStream(stream, leaveInnerStreamOpen: true);
        try
        {
            await secure.AuthenticateAsClientAsync(
                new SslClientAuthenticationOptions
                {
                    TargetHost = provider.Host,
                    EnabledSslProtocols = SslProtocols.Tls12 | SslProtocols.Tls13,
                    CipherSuitesPolicy = TlsCiphers.Preferred(),
                    RemoteCertificateValidationCallback = (_, certificate, chain, errors) => (flaw = FlawOf(certificate, chain, errors)) is null,
                },
                cancellationToken);
            return secure;
        }
        catch (Exception error)
        {
            await secure.DisposeAsync();
            if (flaw is not null && error is AuthenticationException)
                throw new NntpException(NntpFault.CertificateRefused, $"{provider} shows a certificate that {flaw}.", error) { Detail = flaw };
            throw;
        }
    }

    /// <summary>Returns the flaw of a certificate, worded to follow "a certificate that"; null if the certificate is accepted.</summary>
    private string? FlawOf(X509Certificate? certificate, X509Chain? chain, SslPolicyErrors errors)
    {
        if (errors == SslPolicyErrors.None || provider.SkipTlsVerification)
            return MatchesPin(certificate) ? null : "has another key than the pinned one";
        if (errors.HasFlag(SslPolicyErrors.RemoteCertificateNotAvailable))
            return "cannot be read";
        if (errors.HasFlag(SslPolicyErrors.RemoteCertificateNameMismatch))
            return "is for another name";
        return chain?.ChainStatus.Any(status => status.Status.HasFlag(X509ChainStatusFlags.NotTimeValid)) == true
            ? "is out of date"
            : "comes from no issuer that is trusted here";
    }

    private bool MatchesPin(X509Certificate? certificate)
    {
        if (string.IsNullOrEmpty(provider.TlsPin))
            return true;
        if (certificate is not X509Certificate2 known)
            return false;
        var pin = Convert.ToHexString(SHA256.HashData(known.PublicKey.ExportSubjectPublicKeyInfo()));
        return string.Equals(pin, provider.TlsPin, StringComparison.OrdinalIgnoreCase);
    }

    private async Task GreetAsync(NntpTransport transport, CancellationToken cancellationToken)
    {
        entering?.Invoke(DialStep.Greet);
        var greeting = await ReadAsync(transport, cancellationToken);
        if (greeting.Code is not (NntpResponseCode.PostingAllowed or NntpResponseCode.PostingProhibited))
            throw Refusal(greeting, NntpFault.GreetingRefused, "does not greet");
    }

    private async Task LogInAsync(NntpTransport transport, CancellationToken cancellationToken)
    {
        if (string.IsNullOrEmpty(provider.User))
            return;

        entering?.Invoke(DialStep.LogIn);
        var reply = await AskAsync(transport, output => NntpCommandWriter.WriteUser(output, provider.User), cancellationToken);
        if (reply.Code == NntpResponseCode.PasswordRequired)
            reply = await AskAsync(transport, output => NntpCommandWriter.WritePassword(output, provider.Password ?? ""), cancellationToken);
        if (reply.Code != NntpResponseCode.AuthenticationAccepted)
        {
            throw reply.IsOver
                ? Refusal(reply, NntpFault.AccountRefused, "says that the account is not active")
                : Refusal(reply, NntpFault.LoginRefused, "refuses the username or password");
        }
    }

    private async Task<Reply> AskAsync(NntpTransport transport, Action<IBufferWriter<byte>> write, CancellationToken cancellationToken)
    {
        var command = new ArrayBufferWriter<byte>(256);
        write(command);
        meter.CommandSent();
        try
        {
            await transport.Stream.WriteAsync(command.WrittenMemory, cancellationToken);
            return await ReadAsync(transport, cancellationToken);
        }
        catch
        {
            meter.Unanswered(1);
            throw;
        }
    }

    private async Task<Reply> ReadAsync(NntpTransport transport, CancellationToken cancellationToken)
    {
        while (true)
        {
            var result = await transport.Input.ReadAsync(cancellationToken);
            var buffer = result.Buffer;
            if (NntpResponseReader.TryRead(ref buffer, options.MaxLineBytes, out var response))
            {
                var reply = new Reply(response.Code, response.PrintableText(), response.SaysTooManyConnections(), response.SaysAccountIsOver());
                _traffic.Received(Payer.Other, result.Buffer.Length - buffer.Length);
                transport.Input.AdvanceTo(buffer.Start);
                return reply;
            }

            if (result.IsCompleted)
                _traffic.Received(Payer.Other, buffer.Length);
            transport.Input.AdvanceTo(buffer.Start, buffer.End);
            if (result.IsCompleted)
                throw new NntpException(NntpFault.ConnectionClosed, $"{provider} closed the connection before the login was done.");
        }
    }

    private NntpException Refusal(Reply reply, NntpFault otherwise, string does) => reply.TooMany
        ? new(NntpFault.TooManyConnections, $"{provider} allows no more connections: {reply}") { Detail = reply.ToString() }
        : new(otherwise, $"{provider} {does}: {reply}") { Detail = reply.ToString() };

    private Exception Explain(Exception error) => error switch
    {
        NntpException => error,
        OperationCanceledException => new NntpException(NntpFault.ConnectTimeout, $"{provider} did not answer in time.", error),
        AuthenticationException => new NntpException(NntpFault.TlsFailed, $"{provider} speaks no TLS on this port.", error),
        SocketException { SocketErrorCode: SocketError.HostNotFound or SocketError.NoData or SocketError.TryAgain } =>
            new NntpException(NntpFault.NameNotResolved, $"The name of {provider} cannot be resolved.", error),
        SocketException socket => new NntpException(NntpFault.ConnectFailed, $"{provider} cannot be reached: {socket.SocketErrorCode}.", error),
        IOException => new NntpException(NntpFault.ConnectionClosed, $"{provider} closed the connection during the login.", error),
        _ => new NntpException(NntpFault.ConnectFailed, $"{provider} cannot be used: {error.Message}", error),
    };

    /// <summary>Counts no sockets, so that addresses are tried one at a time.</summary>
    private sealed class NoPlaces(NntpMeter meter) : IDialPlaces
    {
        public bool TryTake() => false;

        public void Return()
        {
        }

        public void Leave(Socket socket)
        {
            socket.Reset();
            meter.SocketClosed();
        }
    }

    private readonly record struct Reply(int Code, string Text, bool TooMany, bool IsOver)
    {
        public override string ToString() => $"{Code} {Text}";
    }
}

/// <summary>The order of the offered cipher suites. AES-128-GCM comes first, because it is cheapest on CPUs with AES instructions.</summary>
internal static class TlsCiphers
{
    private static readonly TlsCipherSuite[] InOrder =
    [
        TlsCipherSuite.TLS_AES_128_GCM_SHA256,
        TlsCipherSuite.TLS_AES_256_GCM_SHA384,
        TlsCipherSuite.TLS_CHACHA20_POLY1305_SHA256,
        TlsCipherSuite.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        TlsCipherSuite.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        TlsCipherSuite.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
        TlsCipherSuite.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        TlsCipherSuite.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
        TlsCipherSuite.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,

        // CBC suites, because some TLS 1.2 servers support nothing else. The system's default list contains them too.
        TlsCipherSuite.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256,
        TlsCipherSuite.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256,
        TlsCipherSuite.TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384,
        TlsCipherSuite.TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384,
    ];

    /// <summary>Returns the preferred cipher suites; null on systems other than Linux, which use their own list.</summary>
    public static CipherSuitesPolicy? Preferred() => OperatingSystem.IsLinux() ? new CipherSuitesPolicy(InOrder) : null;
}
