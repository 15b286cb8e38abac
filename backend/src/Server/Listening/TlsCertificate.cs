using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Sluice.Server.Database;

namespace Sluice.Server.Listening;

/// <summary>The listener's certificate with its intermediates. Reloaded when the files change.</summary>
/// <remarks>Thread-safe. Does not dispose replaced certificates, because handshakes may still be using them.</remarks>
internal sealed class TlsCertificate
{
    private readonly string _certificateFile;
    private readonly string _keyFile;
    private readonly ILogger _logger;
    private readonly Lock _lock = new();
    private SslStreamCertificateContext _certificate;
    private (DateTime, DateTime) _written;

    /// <exception cref="StartRefusedException">The PEM files cannot be read (CFG-14).</exception>
    public TlsCertificate(string certificateFile, string keyFile, ILogger logger)
    {
        _certificateFile = certificateFile;
        _keyFile = keyFile;
        _logger = logger;
        try
        {
            _written = Written();
            _certificate = Read(certificateFile, keyFile);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or CryptographicException or ArgumentException)
        {
            throw new StartRefusedException(
                StartRefusedException.BadConfiguration,
                $"TLS_CERT_FILE {certificateFile} and TLS_KEY_FILE {keyFile} cannot be used: {e.Message.ReplaceLineEndings(" ")}",
                e);
        }
    }

    /// <summary>Returns the certificate for the next handshake.</summary>
    public SslStreamCertificateContext Current()
    {
        lock (_lock)
        {
            var written = Written();
            if (written == _written)
                return _certificate;

            _written = written;
            try
            {
                _certificate = Read(_certificateFile, _keyFile);
            }
            catch (Exception e) when (e is IOException or UnauthorizedAccessException or CryptographicException or ArgumentException)
            {
                ListeningLog.CertificateUnreadable(_logger, _certificateFile, e.Message);
            }

            return _certificate;
        }
    }

    private static SslStreamCertificateContext Read(string certificateFile, string keyFile)
    {
        var chain = new X509Certificate2Collection();
        chain.ImportFromPemFile(certificateFile);
        // Offline, because missing intermediate certificates must not be downloaded.
        return SslStreamCertificateContext.Create(X509Certificate2.CreateFromPemFile(certificateFile, keyFile), chain, offline: true);
    }

    private (DateTime, DateTime) Written() => (File.GetLastWriteTimeUtc(_certificateFile), File.GetLastWriteTimeUtc(_keyFile));
}

internal static partial class ListeningLog
{
    [LoggerMessage(1350, LogLevel.Warning, "The changed TLS certificate {Path} cannot be read: {Reason}. The previous certificate stays in use")]
    public static partial void CertificateUnreadable(ILogger logger, string path, string reason);
}
