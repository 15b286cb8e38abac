using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Sluice.Server.Tests.Database;
using Xunit;

namespace Sluice.Server.Tests.Startup;

public sealed class TlsTests : IDisposable
{
    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private string CertificateFile => Path.Combine(_temporary.Root, "cert.pem");

    private string KeyFile => Path.Combine(_temporary.Root, "key.pem");

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Certificate_is_reloaded_when_its_files_change()
    {
        WriteCertificate("CN=first");
        await using var server = await RunningServer.StartAsync(_temporary, new() { ["TLS_CERT_FILE"] = CertificateFile, ["TLS_KEY_FILE"] = KeyFile });
        Assert.Equal("CN=first", await SubjectAsync(server));

        WriteCertificate("CN=second");
        SetAge(TimeSpan.FromMinutes(1));
        Assert.Equal("CN=second", await SubjectAsync(server));

        await File.WriteAllTextAsync(CertificateFile, "no certificate", Token);
        SetAge(TimeSpan.FromMinutes(2));
        Assert.Equal("CN=second", await SubjectAsync(server));
    }

    [Fact]
    public async Task Intermediate_certificates_in_the_file_are_sent_too()
    {
        using var root = Issue("CN=root", null, out _);
        using var intermediate = Issue("CN=intermediate", root, out _);
        using var leaf = Issue("CN=localhost", intermediate, out var key);
        await File.WriteAllTextAsync(CertificateFile, $"{leaf.ExportCertificatePem()}\n{intermediate.ExportCertificatePem()}\n", Token);
        await File.WriteAllTextAsync(KeyFile, key, Token);
        await using var server = await RunningServer.StartAsync(_temporary, new() { ["TLS_CERT_FILE"] = CertificateFile, ["TLS_KEY_FILE"] = KeyFile });

        using var client = new TcpClient();
        await client.ConnectAsync(IPAddress.Loopback, server.Address.Port, Token);
        await using var secure = new SslStream(client.GetStream());
        var policy = new X509ChainPolicy { TrustMode = X509ChainTrustMode.CustomRootTrust, RevocationMode = X509RevocationMode.NoCheck };
        policy.CustomTrustStore.Add(root);
        await secure.AuthenticateAsClientAsync(
            new SslClientAuthenticationOptions { TargetHost = "localhost", CertificateChainPolicy = policy }, Token);

        Assert.Equal("CN=localhost", secure.RemoteCertificate!.Subject);
    }

    [Fact]
    public async Task Certificate_without_a_key_file_serves_plain_HTTP()
    {
        WriteCertificate("CN=first");
        await using var server = await RunningServer.StartAsync(_temporary, new() { ["TLS_CERT_FILE"] = CertificateFile });

        using var response = await server.Client.GetAsync("healthz", Token);

        Assert.Equal("http", server.Address.Scheme);
        Assert.Equal(HttpStatusCode.OK, response.StatusCode);
    }

    private static async Task<string> SubjectAsync(RunningServer server)
    {
        using var client = new TcpClient();
        await client.ConnectAsync(IPAddress.Loopback, server.Address.Port, Token);
        await using var secure = new SslStream(client.GetStream());
        await secure.AuthenticateAsClientAsync(
            new SslClientAuthenticationOptions { TargetHost = "localhost", RemoteCertificateValidationCallback = IsOfThisTest }, Token);
        return secure.RemoteCertificate!.Subject;
    }

    /// <summary>Accepts both self-signed certificates, because the tests check which one is presented.</summary>
    private static bool IsOfThisTest(object sender, X509Certificate? certificate, X509Chain? chain, SslPolicyErrors errors) =>
        certificate?.Subject is "CN=first" or "CN=second";

    /// <summary>Sets the file's time, because both files may be written within one tick of the file system's clock.</summary>
    private void SetAge(TimeSpan ahead) => File.SetLastWriteTimeUtc(CertificateFile, TimeProvider.System.GetUtcNow().UtcDateTime + ahead);

    /// <summary>Creates a certificate with its key, signed by an issuer or by itself.</summary>
    private static X509Certificate2 Issue(string subject, X509Certificate2? issuer, out string keyPem)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        keyPem = key.ExportPkcs8PrivateKeyPem();
        var request = new CertificateRequest(subject, key, HashAlgorithmName.SHA256);
        var isLeaf = subject == "CN=localhost";
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(!isLeaf, false, 0, true));
        if (isLeaf)
        {
            var names = new SubjectAlternativeNameBuilder();
            names.AddDnsName("localhost");
            request.CertificateExtensions.Add(names.Build());
        }

        var now = TimeProvider.System.GetUtcNow();
        if (issuer is null)
            return request.CreateSelfSigned(now.AddDays(-2), now.AddDays(2));

        using var issued = request.Create(issuer, now.AddDays(-1), now.AddDays(1), Guid.NewGuid().ToByteArray());
        return issued.CopyWithPrivateKey(key);
    }

    private void WriteCertificate(string subject)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var now = TimeProvider.System.GetUtcNow();
        using var certificate = new CertificateRequest(subject, key, HashAlgorithmName.SHA256).CreateSelfSigned(now.AddDays(-1), now.AddDays(1));
        File.WriteAllText(CertificateFile, certificate.ExportCertificatePem());
        File.WriteAllText(KeyFile, key.ExportPkcs8PrivateKeyPem());
    }
}
