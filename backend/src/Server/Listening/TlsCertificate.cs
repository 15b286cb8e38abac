using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Sluice.Server.Database;

namespace Sluice.Server.Listening;

/// <summary>The certificate of the listener and those between it and its root, read again when their files change.</summary>
/// <remarks>Thread-safe. A certificate that was replaced is left to the garbage collector, because handshakes may still use it.</remarks>
internal sealed class TlsCertificate
{
    private readonly string _certificateFile;
    private readonly string _keyFile;
    private readonly ILogger _logger;
    private readonly Lock _lock = new();
    private SslStreamCertificateContext _certificate;
    private (DateTime, DateTime) _written;

    /// <summary>Reads both PEM files.</summary>
    /// <exception cref="StartRefusedException">They cannot be read (CFG-14).</exception>
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

    /// <summary>The certificate of the next handshake.</summary>
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
        // Offline: intermediate certificates that the file lacks are not fetched.
        return SslStreamCertificateContext.Create(X509Certificate2.CreateFromPemFile(certificateFile, keyFile), chain, offline: true);
    }

    private (DateTime, DateTime) Written() => (File.GetLastWriteTimeUtc(_certificateFile), File.GetLastWriteTimeUtc(_keyFile));
}

/// <summary>Messages of the listener; ids 1350 to 1399.</summary>
internal static partial class ListeningLog
{
    [LoggerMessage(1350, LogLevel.Warning, "The TLS certificate {Path} has changed but cannot be read; the one before stays in use: {Reason}")]
    public static partial void CertificateUnreadable(ILogger logger, string path, string reason);
}
