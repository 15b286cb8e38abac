using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Sluice.Server.Database;

namespace Sluice.Server.Auth;

/// <summary>The certificate of the listener, read again when its files change.</summary>
/// <remarks>Thread-safe. A certificate that was replaced is left to the garbage collector, because handshakes may still use it.</remarks>
internal sealed class TlsCertificate
{
    private readonly string _certificateFile;
    private readonly string _keyFile;
    private readonly ILogger _logger;
    private readonly Lock _lock = new();
    private X509Certificate2 _certificate;
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
            _certificate = X509Certificate2.CreateFromPemFile(certificateFile, keyFile);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or CryptographicException or ArgumentException)
        {
            throw new StartRefusedException(
                StartRefusedException.BadConfiguration,
                $"TLS_CERT_FILE {certificateFile} and TLS_KEY_FILE {keyFile} cannot be used: {e.Message.ReplaceLineEndings(" ")}",
                e);
        }
    }

    /// <summary>The certificate for the next handshake.</summary>
    public X509Certificate2 Current()
    {
        lock (_lock)
        {
            var written = Written();
            if (written == _written)
                return _certificate;

            _written = written;
            try
            {
                _certificate = X509Certificate2.CreateFromPemFile(_certificateFile, _keyFile);
            }
            catch (Exception e) when (e is IOException or UnauthorizedAccessException or CryptographicException or ArgumentException)
            {
                AuthLog.CertificateUnreadable(_logger, _certificateFile, e.Message);
            }

            return _certificate;
        }
    }

    private (DateTime, DateTime) Written() => (File.GetLastWriteTimeUtc(_certificateFile), File.GetLastWriteTimeUtc(_keyFile));
}
