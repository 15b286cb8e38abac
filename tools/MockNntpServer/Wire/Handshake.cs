using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using Sluice.Tools.MockNntpServer.Faults;

namespace Sluice.Tools.MockNntpServer.Wire;

/// <summary>TLS handshakes of a provider, with their faults. Thread-safe.</summary>
internal sealed class Handshake(MockCertificates certificates, MockTls usual)
{
    private readonly Dictionary<MockTls, SslServerAuthenticationOptions> _options = Enum.GetValues<MockTls>()
        .Where(kind => kind != MockTls.None)
        .ToDictionary(kind => kind, kind => new SslServerAuthenticationOptions
        {
            ServerCertificate = certificates.Issue(kind),
            EnabledSslProtocols = SslProtocols.Tls12 | SslProtocols.Tls13,
        });

    /// <param name="network">The plain connection; stays open when the result is closed.</param>
    /// <returns>The TLS stream; null if the connection must be closed.</returns>
    /// <exception cref="AuthenticationException">The client rejects the handshake.</exception>
    public async Task<SslStream?> ShakeAsync(NetworkStream network, MockFault? fault, CancellationToken stopping)
    {
        if (fault?.Kind is FaultKind.TlsStall or FaultKind.TlsClose)
        {
            var hello = new byte[16 * 1024];
            while (await network.ReadAsync(hello, stopping) > 0 && fault.Kind == FaultKind.TlsStall)
            {
                // Discard further input until the client disconnects.
            }

            return null;
        }

        var secure = new SslStream(network, leaveInnerStreamOpen: true);
        try
        {
            await secure.AuthenticateAsServerAsync(_options[CertificateOf(fault)], stopping);
        }
        catch
        {
            await secure.DisposeAsync();
            throw;
        }

        return secure;
    }

    private MockTls CertificateOf(MockFault? fault) => fault?.Kind switch
    {
        FaultKind.TlsExpired => MockTls.Expired,
        FaultKind.TlsWrongHost => MockTls.WrongHost,
        FaultKind.TlsSelfSigned => MockTls.SelfSigned,
        _ => usual,
    };
}
