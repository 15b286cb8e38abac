using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>nginx with default settings in front of a server, on loopback.</summary>
internal sealed class NginxProxy : IAsyncDisposable
{
    /// <summary>Subject of its self-signed certificate.</summary>
    public const string Subject = "CN=127.0.0.1";

    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan Poll = TimeSpan.FromMilliseconds(50);

    private readonly ScratchFolder _folder;
    private readonly Process _process;
    private readonly Task<string> _errors;

    private NginxProxy(ScratchFolder folder, Process process, Uri address)
    {
        _folder = folder;
        _process = process;
        _errors = process.StandardError.ReadToEndAsync(CancellationToken.None);
        Address = address;
    }

    /// <summary>Address for browsers.</summary>
    public Uri Address { get; }

    /// <summary>Starts nginx.</summary>
    /// <param name="server">Address of the server behind it.</param>
    /// <param name="useTls">Whether browsers connect by TLS; nginx connects to the server without it.</param>
    /// <param name="directives">Lines of the location besides <c>proxy_pass</c>.</param>
    /// <param name="cancel">Cancels the wait.</param>
    public static async Task<NginxProxy> StartAsync(Uri server, bool useTls, string directives, CancellationToken cancel)
    {
        var folder = new ScratchFolder();
        try
        {
            var port = ServerProcess.FreePort();
            var configuration = folder.File("nginx.conf");
            await File.WriteAllTextAsync(configuration, Configuration(folder, port, server, useTls, directives), cancel);
            var process = ExternalProgram.Start("nginx", ["-p", folder.Path, "-c", configuration, "-g", "daemon off;", "-e", "stderr"], null);
            process.StandardInput.Close();
            var proxy = new NginxProxy(folder, process, new Uri($"{(useTls ? "https" : "http")}://127.0.0.1:{port}/"));
            await proxy.WaitAsync(port, cancel);
            return proxy;
        }
        catch
        {
            folder.Dispose();
            throw;
        }
    }

    public async ValueTask DisposeAsync()
    {
        if (!_process.HasExited)
            _process.Kill(entireProcessTree: true);
        await _process.WaitForExitAsync(CancellationToken.None);
        await _errors;
        _process.Dispose();
        _folder.Dispose();
    }

    private static string Configuration(ScratchFolder folder, int port, Uri server, bool useTls, string directives)
    {
        if (useTls)
            WriteCertificate(folder);
        // Sets the folders, because those of the package belong to the system; everything else keeps its default.
        return $$"""
            {{(Environment.IsPrivilegedProcess ? "user root;" : "")}}
            pid {{folder.File("nginx.pid")}};
            worker_processes 1;
            events { }
            http {
              access_log off;
              client_body_temp_path {{folder.File("body")}};
              proxy_temp_path {{folder.File("proxy")}};
              fastcgi_temp_path {{folder.File("fastcgi")}};
              uwsgi_temp_path {{folder.File("uwsgi")}};
              scgi_temp_path {{folder.File("scgi")}};
              server {
                listen 127.0.0.1:{{port}}{{(useTls ? " ssl" : "")}};
                {{(useTls ? $"ssl_certificate {folder.File("cert.pem")}; ssl_certificate_key {folder.File("key.pem")};" : "")}}
                location / {
                  proxy_pass http://{{server.Authority}};
                  {{directives}}
                }
              }
            }
            """;
    }

    private static void WriteCertificate(ScratchFolder folder)
    {
        using var key = RSA.Create(2048);
        var request = new CertificateRequest(Subject, key, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
        var now = TimeProvider.System.GetUtcNow();
        using var certificate = request.CreateSelfSigned(now.AddDays(-1), now.AddDays(1));
        File.WriteAllText(folder.File("cert.pem"), certificate.ExportCertificatePem());
        File.WriteAllText(folder.File("key.pem"), key.ExportPkcs8PrivateKeyPem());
    }

    private async Task WaitAsync(int port, CancellationToken cancel)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancel);
        limit.CancelAfter(StartLimit);
        while (true)
        {
            if (_process.HasExited)
                Assert.Fail($"nginx ended: {await _errors}");
            using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            try
            {
                await socket.ConnectAsync(IPAddress.Loopback, port, limit.Token);
                return;
            }
            catch (SocketException)
            {
                // nginx does not listen yet.
            }

            await Task.Delay(Poll, TimeProvider.System, limit.Token);
        }
    }
}
