using System.Globalization;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Sluice.Server.Tests.EndToEnd;
using Xunit;

namespace Sluice.Server.Tests.Startup;

/// <summary><c>--healthcheck</c>, against a server in this process (ADM-31).</summary>
public sealed class HealthQuestionTests : IDisposable
{
    private readonly Database.TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Theory]
    [InlineData("127.0.0.1", "")]
    [InlineData("0.0.0.0", "")]
    [InlineData("", "")]
    [InlineData("::1", "")]
    [InlineData("127.0.0.1", "/sluice")]
    public async Task Healthcheck_of_a_running_server_exits_with_code_0(string bind, string urlBase)
    {
        await using var server = await RunningServer.StartAsync(_temporary, new() { ["BIND_ADDRESS"] = bind, ["URL_BASE"] = urlBase });

        var result = await AskAsync(server.Address.Port, ("BIND_ADDRESS", bind));

        Assert.Equal((0, ""), (result.ExitCode, result.Errors));
    }

    [Fact]
    public async Task Healthcheck_of_a_TLS_server_uses_https()
    {
        (string Name, string Value)[] files = [("TLS_CERT_FILE", Path.Combine(_temporary.Root, "cert.pem")), ("TLS_KEY_FILE", Path.Combine(_temporary.Root, "key.pem"))];
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var now = TimeProvider.System.GetUtcNow();
        using var certificate = new CertificateRequest("CN=films.example", key, HashAlgorithmName.SHA256).CreateSelfSigned(now.AddDays(-1), now.AddDays(1));
        await File.WriteAllTextAsync(files[0].Value, certificate.ExportCertificatePem(), Token);
        await File.WriteAllTextAsync(files[1].Value, key.ExportPkcs8PrivateKeyPem(), Token);
        await using var server = await RunningServer.StartAsync(_temporary, files.ToDictionary(file => file.Name, file => file.Value));

        Assert.Equal(0, (await AskAsync(server.Address.Port, files)).ExitCode);
        Assert.Equal(1, (await AskAsync(server.Address.Port)).ExitCode);
    }

    [Fact]
    public async Task Healthcheck_without_a_server_exits_with_1_and_one_line()
    {
        var port = ServerProcess.FreePort();

        var result = await AskAsync(port);

        Assert.Equal(1, result.ExitCode);
        Assert.Matches($"^sluice: http://127.0.0.1:{port}/healthz does not answer: ", Assert.Single(result.Errors.Split('\n', StringSplitOptions.RemoveEmptyEntries)));
    }

    /// <summary>Runs the check with a data folder that cannot be opened, because it needs none.</summary>
    private static Task<ProgramResult> AskAsync(int port, params (string Name, string Value)[] variables) => ExternalProgram.RunAsync(
        ServerProcess.Executable,
        ["--healthcheck"],
        variables.Append(("PORT", port.ToString(CultureInfo.InvariantCulture))).Append(("CONFIG_PATH", "/proc/none")).ToDictionary(variable => variable.Item1, variable => variable.Item2),
        Token);
}
