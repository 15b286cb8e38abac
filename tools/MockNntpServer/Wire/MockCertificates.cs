using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Sluice.Tools.MockNntpServer.Wire;

/// <summary>An authority and its certificates, created at startup. Clients trust them only if they are given the authority.</summary>
internal sealed class MockCertificates : IDisposable
{
    private static readonly TimeSpan Validity = TimeSpan.FromDays(2);

    private readonly X509Certificate2 _authority;
    private readonly List<X509Certificate2> _issued = [];

    // Clients check certificates against the real clock, so the mock's own clock must not be used.
    private readonly DateTimeOffset _now = TimeProvider.System.GetUtcNow();

    public MockCertificates()
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest("CN=Sluice mock authority", key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(true, false, 0, true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(X509KeyUsageFlags.KeyCertSign | X509KeyUsageFlags.CrlSign, true));
        request.CertificateExtensions.Add(new X509SubjectKeyIdentifierExtension(request.PublicKey, false));
        _authority = request.CreateSelfSigned(_now - (2 * Validity), _now + (2 * Validity));
    }

    /// <summary>The authority that a client must trust, in PEM.</summary>
    public string AuthorityPem => _authority.ExportCertificatePem();

    public X509Certificate2 Issue(MockTls kind)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest(kind == MockTls.WrongHost ? "CN=wrong.example" : "CN=localhost", key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(false, false, 0, true));
        request.CertificateExtensions.Add(new X509EnhancedKeyUsageExtension([new Oid("1.3.6.1.5.5.7.3.1")], false));
        request.CertificateExtensions.Add(Names(kind));

        var (from, until) = kind == MockTls.Expired ? (_now - Validity, _now - (Validity / 2)) : (_now - Validity, _now + Validity);
        X509Certificate2 certificate;
        if (kind == MockTls.SelfSigned)
        {
            certificate = request.CreateSelfSigned(from, until);
        }
        else
        {
            using var bare = request.Create(_authority, from, until, RandomNumberGenerator.GetBytes(8));
            certificate = bare.CopyWithPrivateKey(key);
        }

        _issued.Add(certificate);
        return certificate;
    }

    public void Dispose()
    {
        _authority.Dispose();
        _issued.ForEach(certificate => certificate.Dispose());
    }

    private static X509Extension Names(MockTls kind)
    {
        var names = new SubjectAlternativeNameBuilder();
        if (kind == MockTls.WrongHost)
        {
            names.AddDnsName("wrong.example");
        }
        else
        {
            names.AddDnsName("localhost");
            names.AddIpAddress(IPAddress.Loopback);
            names.AddIpAddress(IPAddress.IPv6Loopback);
        }

        return names.Build();
    }
}
