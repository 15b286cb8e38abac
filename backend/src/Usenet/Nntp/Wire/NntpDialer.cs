using System.Buffers;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Sluice.Usenet.Nntp;

/// <summary>Opens connections to one provider: name, TCP, TLS, greeting, login, each with its deadline.</summary>
internal sealed class NntpDialer(ProviderOptions provider, NntpOptions options, NntpMeter meter, TimeProvider time)
{
    private const int TcpUserTimeoutOption = 18;
    private const int TcpProtocolLevel = 6;
    private static readonly TimeSpan TcpUserTimeout = TimeSpan.FromSeconds(15);

    /// <summary>Connects and logs in.</summary>
    /// <exception cref="NntpException">Any step failed or took too long.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public async Task<NntpTransport> DialAsync(CancellationToken cancellationToken)
    {
        using var deadline = new CancellationTokenSource(options.LoginTimeout, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(deadline.Token, cancellationToken);
        NntpTransport? transport = null;
        cancellationToken.ThrowIfCancellationRequested();
        meter.SocketOpening();
        try
        {
            var socket = await ConnectAsync(either.Token);
            meter.SocketOpened();
            Stream stream = new NetworkStream(socket, ownsSocket: true);
            if (provider.UseTls)
                stream = await SecureAsync(new ReceiveAheadStream(stream, options.ReceiveBufferBytes), either.Token);
            transport = new NntpTransport(socket, stream, options.ReceiveBufferBytes);
            await LogInAsync(transport, either.Token);
            return transport;
        }
        catch (Exception error)
        {
            if (transport is not null)
            {
                transport.Abort();
                await transport.DisposeAsync();
            }

            meter.SocketClosed();
            cancellationToken.ThrowIfCancellationRequested();
            throw Explain(error);
        }
    }

    private async Task<Socket> ConnectAsync(CancellationToken cancellationToken)
    {
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        using var deadline = new CancellationTokenSource(options.ConnectTimeout, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(deadline.Token, cancellationToken);
        try
        {
            socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive, true);
            if (OperatingSystem.IsLinux())
                socket.SetRawSocketOption(TcpProtocolLevel, TcpUserTimeoutOption, BitConverter.GetBytes((int)TcpUserTimeout.TotalMilliseconds));
            await socket.ConnectAsync(provider.Host, provider.Port, either.Token);
            return socket;
        }
        catch (Exception error)
        {
            // The kernel may have made it without our knowing: its news and the cancel cross.
            if (error is OperationCanceledException)
                meter.SocketAbandoned();
            socket.Dispose();
            throw;
        }
    }

    private async Task<Stream> SecureAsync(Stream stream, CancellationToken cancellationToken)
    {
        // Chain, dates and host name are checked by the system; the callback only adds the pin or takes the check away.
        var secure = new SslStream(stream, leaveInnerStreamOpen: false);
        try
        {
            await secure.AuthenticateAsClientAsync(
                new SslClientAuthenticationOptions
                {
                    TargetHost = provider.Host,
                    EnabledSslProtocols = SslProtocols.Tls12 | SslProtocols.Tls13,
                    CipherSuitesPolicy = TlsCiphers.Preferred(),
                    RemoteCertificateValidationCallback = (_, certificate, _, errors) =>
                        (errors == SslPolicyErrors.None || provider.SkipTlsVerification) && MatchesPin(certificate),
                },
                cancellationToken);
            return secure;
        }
        catch
        {
            await secure.DisposeAsync();
            throw;
        }
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

    private async Task LogInAsync(NntpTransport transport, CancellationToken cancellationToken)
    {
        var greeting = await ReadAsync(transport, cancellationToken);
        if (greeting.Code is not (NntpResponseCode.PostingAllowed or NntpResponseCode.PostingProhibited))
            throw Refusal(greeting, NntpFault.GreetingRefused, "does not greet");
        if (string.IsNullOrEmpty(provider.User))
            return;

        var reply = await AskAsync(transport, output => NntpCommandWriter.WriteUser(output, provider.User), cancellationToken);
        if (reply.Code == NntpResponseCode.PasswordRequired)
            reply = await AskAsync(transport, output => NntpCommandWriter.WritePassword(output, provider.Password ?? ""), cancellationToken);
        if (reply.Code != NntpResponseCode.AuthenticationAccepted)
            throw Refusal(reply, NntpFault.LoginRefused, "refuses the user name or password");
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
            meter.LoginUnanswered();
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
                var reply = new Reply(response.Code, response.PrintableText(), response.SaysTooManyConnections());
                meter.Received(result.Buffer.Length - buffer.Length);
                transport.Input.AdvanceTo(buffer.Start);
                return reply;
            }

            transport.Input.AdvanceTo(buffer.Start, buffer.End);
            if (result.IsCompleted)
                throw new NntpException(NntpFault.ConnectionClosed, $"{provider} closed the connection before the login was done.");
        }
    }

    private NntpException Refusal(Reply reply, NntpFault otherwise, string does) => reply.TooMany
        ? new(NntpFault.TooManyConnections, $"{provider} allows no more connections: {reply.Code} {reply.Text}")
        : new(otherwise, $"{provider} {does}: {reply.Code} {reply.Text}");

    private Exception Explain(Exception error) => error switch
    {
        NntpException => error,
        OperationCanceledException => new NntpException(NntpFault.ConnectTimeout, $"{provider} did not answer in time.", error),
        AuthenticationException => new NntpException(NntpFault.TlsFailed, $"{provider} has no valid certificate for this name, or speaks no TLS on this port.", error),
        SocketException { SocketErrorCode: SocketError.HostNotFound or SocketError.NoData or SocketError.TryAgain } =>
            new NntpException(NntpFault.NameNotResolved, $"The name of {provider} cannot be resolved.", error),
        SocketException socket => new NntpException(NntpFault.ConnectFailed, $"{provider} cannot be reached: {socket.SocketErrorCode}.", error),
        IOException => new NntpException(NntpFault.ConnectionClosed, $"{provider} closed the connection during the login.", error),
        _ => new NntpException(NntpFault.ConnectFailed, $"{provider} cannot be used: {error.Message}", error),
    };

    private readonly record struct Reply(int Code, string Text, bool TooMany);
}
