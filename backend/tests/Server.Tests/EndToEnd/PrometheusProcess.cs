using System.Diagnostics;
using System.Text.Json.Nodes;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>A Prometheus that scrapes one server every second, on loopback.</summary>
internal sealed class PrometheusProcess : IAsyncDisposable
{
    private readonly ScratchFolder _folder;
    private readonly Process _process;
    private readonly Task<string> _output;
    private readonly Task<string> _errors;
    private readonly HttpClient _client;

    private PrometheusProcess(ScratchFolder folder, Process process, int port)
    {
        (_folder, _process) = (folder, process);
        (_output, _errors) = (process.StandardOutput.ReadToEndAsync(CancellationToken.None), process.StandardError.ReadToEndAsync(CancellationToken.None));
        _client = new HttpClient { BaseAddress = new Uri($"http://127.0.0.1:{port}/") };
    }

    /// <summary>Starts Prometheus with the job <c>sluice</c>.</summary>
    /// <param name="server">The server to scrape.</param>
    /// <param name="key">A named key of the server, sent as bearer token.</param>
    /// <param name="rules">Full path of the file with alerts.</param>
    /// <param name="cancel">Cancels the start.</param>
    public static async Task<PrometheusProcess> StartAsync(Uri server, string key, string rules, CancellationToken cancel)
    {
        var folder = new ScratchFolder();
        var port = ServerProcess.FreePort();
        var configuration = folder.File("prometheus.yml");
        await File.WriteAllTextAsync(
            configuration,
            $"""
            global:
              scrape_interval: 1s
              evaluation_interval: 1s
            rule_files: ["{rules}"]
            scrape_configs:
              - job_name: sluice
                authorization:
                  credentials: {key}
                static_configs:
                  - targets: ["{server.Authority}"]
            """,
            cancel);
        var process = ExternalProgram.Start(
            "prometheus",
            [$"--config.file={configuration}", $"--storage.tsdb.path={folder.File("data")}", $"--web.listen-address=127.0.0.1:{port}", "--log.level=warn"],
            null);
        process.StandardInput.Close();
        return new PrometheusProcess(folder, process, port);
    }

    /// <summary>Evaluates an expression now. Returns the values, or null if Prometheus does not answer yet.</summary>
    /// <exception cref="InvalidOperationException">The expression is invalid, or Prometheus has ended.</exception>
    public async Task<JsonArray?> QueryAsync(string expression, CancellationToken cancel)
    {
        if (_process.HasExited)
            throw new InvalidOperationException($"Prometheus ended: {await _output}{await _errors}");
        try
        {
            using var answer = await _client.GetAsync($"api/v1/query?query={Uri.EscapeDataString(expression)}", cancel);
            var text = await answer.Content.ReadAsStringAsync(cancel);
            if (answer.StatusCode == System.Net.HttpStatusCode.ServiceUnavailable)
                return null;
            var result = JsonNode.Parse(text)!;
            return result["status"]?.GetValue<string>() == "success"
                ? result["data"]!["result"]!.AsArray()
                : throw new InvalidOperationException($"{expression}: {text}");
        }
        catch (HttpRequestException)
        {
            return null;
        }
    }

    public async ValueTask DisposeAsync()
    {
        _client.Dispose();
        if (!_process.HasExited)
            _process.Kill(entireProcessTree: true);
        await _process.WaitForExitAsync(CancellationToken.None);
        await Task.WhenAll(_output, _errors);
        _process.Dispose();
        _folder.Dispose();
    }
}
